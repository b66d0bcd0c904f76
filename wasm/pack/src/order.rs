//! The order of the functions in a module. Compression finds again what it has seen, and it is cheapest a short way back: each
//! function stands behind those that it is most like. The order of functions has no meaning, and engines do not look at it.

use std::collections::HashMap;
use std::error::Error;

use wasm_encoder::{Encode as _, NameMap, NameSection};
use wasmparser::{Parser, Payload, TypeRef};

/// The bytes of a piece: two functions are alike in the pieces that both have.
const PIECE: usize = 6;

/// A piece that more functions have says nothing about them.
const SHARED: usize = 100;

/// The part of the likeness to a function that counts for the next but one, and so on.
const FADING: f64 = 0.95;

/// The exponent of a function's size by which its likeness to others is divided: longer ones have more in common with anything.
const LENGTH: f64 = 0.8;

/// Adds names to a module without any, in whose alphabetical order like functions are side by side.
///
/// # Errors
/// When it is not a module.
pub(crate) fn name_by_likeness(module: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let (mut imported, mut bodies) = (0, Vec::new());
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(&module[body.range()]),
            _ => {}
        }
    }
    let mut places = vec![0; bodies.len()];
    for (place, function) in by_likeness(&bodies).into_iter().enumerate() {
        places[function] = place;
    }
    let mut names = NameMap::new();
    for (index, place) in (imported..).zip(places) {
        names.append(index, &format!("{place:06}"));
    }
    let mut section = NameSection::new();
    section.functions(&names);
    let mut named = module.to_vec();
    // The number of a custom section.
    named.push(0);
    section.encode(&mut named);
    Ok(named)
}

/// The positions of the bodies, in an order in which each is like those before it.
fn by_likeness(bodies: &[&[u8]]) -> Vec<usize> {
    let pieces: Vec<Vec<&[u8]>> = bodies.iter().map(|body| pieces(body)).collect();
    let mut owners: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (position, pieces) in pieces.iter().enumerate() {
        for piece in pieces {
            owners.entry(piece).or_default().push(position);
        }
    }
    owners.retain(|_, owners| (2..=SHARED).contains(&owners.len()));
    let sizes: Vec<f64> = pieces
        .iter()
        .map(|pieces| (pieces.len() as f64 + 20.0).powf(LENGTH))
        .collect();
    let mut likeness = vec![0.0; bodies.len()];
    let mut left: Vec<usize> = (0..bodies.len()).collect();
    let mut order = Vec::with_capacity(bodies.len());
    while let Some(next) = most_alike(&left, &likeness, &sizes) {
        let last = left.remove(next);
        order.push(last);
        likeness.iter_mut().for_each(|likeness| *likeness *= FADING);
        for owners in pieces[last].iter().filter_map(|piece| owners.get(piece)) {
            for &owner in owners {
                likeness[owner] += 1.0 / owners.len() as f64;
            }
        }
    }
    order
}

/// The different pieces of a body.
fn pieces(body: &[u8]) -> Vec<&[u8]> {
    let mut pieces: Vec<&[u8]> = body.windows(PIECE).collect();
    pieces.sort_unstable();
    pieces.dedup();
    pieces
}

/// Where in `left` the position stands that is most alike, the first of equals.
fn most_alike(left: &[usize], likeness: &[f64], sizes: &[f64]) -> Option<usize> {
    let mut most: Option<(usize, f64)> = None;
    for (at, &position) in left.iter().enumerate() {
        let likeness = likeness[position] / sizes[position];
        if most.is_none_or(|(_, most)| likeness > most) {
            most = Some((at, likeness));
        }
    }
    most.map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_functions_are_side_by_side() {
        let bodies: [&[u8]; 4] = [
            b"one body of a function",
            b"0123456789ABCDEF",
            b"one body of a method",
            b"0123456789abcdef",
        ];
        assert_eq!(by_likeness(&bodies), [0, 2, 1, 3]);
    }

    #[test]
    fn each_function_gets_a_name_and_imports_none() {
        let mut module = walrus::Module::default();
        let without = module.types.add(&[], &[]);
        module.add_import_func("host", "imported", without);
        for value in 0..2 {
            let mut builder = walrus::FunctionBuilder::new(&mut module.types, &[], &[]);
            builder.func_body().i32_const(value).drop();
            let function = builder.finish(Vec::new(), &mut module.funcs);
            module.exports.add(&format!("exported-{value}"), function);
        }
        let named = name_by_likeness(&module.emit_wasm()).expect("is a module");
        let named = walrus::Module::from_buffer(&named).expect("is a module");
        let names: Vec<Option<&str>> = named
            .funcs
            .iter()
            .map(|function| function.name.as_deref())
            .collect();
        assert_eq!(names, [None, Some("000000"), Some("000001")]);
    }
}
