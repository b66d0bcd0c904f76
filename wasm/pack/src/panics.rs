//! Takes out of a module what would say why it panicked. Nobody hears it: a panic is a trap, and the host of the module answers
//! with a denial and a new instance. The names of files would be those of the machine that built it.

use std::ops::Range;

use walrus::ir::Value;
use walrus::{ConstExpr, DataKind, FunctionKind, Module};

/// The beginnings of the names of functions of the standard library that do nothing but panic.
const PANICS: [&str; 10] = [
    "alloc::alloc::handle_alloc_error",
    "alloc::raw_vec::handle_error",
    "core::cell::panic_",
    "core::option::expect_failed",
    "core::option::unwrap_failed",
    "core::panicking::",
    "core::result::unwrap_failed",
    "core::slice::index::slice_",
    "core::str::slice_error_fail",
    "std::panicking::",
];

/// The bytes of a `core::panic::Location` for this target: where its path begins, how long it is, a line and a column.
const LOCATION: usize = 16;

/// Makes a trap of each function that panics, and zeros of the places in source files that panics name.
pub(crate) fn make_traps(module: &mut Module) {
    for function in module.funcs.iter_mut() {
        let name = without_hashes(function.name.as_deref().unwrap_or_default());
        let panics = PANICS.iter().any(|panic| name.starts_with(panic)) || name.contains("::assert_failed");
        if let (true, FunctionKind::Local(local)) = (panics, &mut function.kind) {
            let mut body = local.builder_mut().func_body();
            body.instrs_mut().clear();
            body.unreachable();
        }
    }
    let segments: Vec<_> = module.data.iter().map(|data| data.id()).collect();
    for segment in segments {
        let data = module.data.get_mut(segment);
        if let DataKind::Active { offset, .. } = &data.kind
            && let ConstExpr::Value(Value::I32(address)) = offset
        {
            clear_locations(&mut data.value, address.cast_unsigned() as usize);
        }
    }
}

/// `core::panicking::panic_fmt` of `core[c5930c85a12de822]::panicking::panic_fmt`.
fn without_hashes(name: &str) -> String {
    let mut parts = name.split('[');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        plain + part.split_once(']').map_or(part, |(_, rest)| rest)
    })
}

/// Overwrites the locations in the bytes of a data segment at this address, and their paths.
fn clear_locations(bytes: &mut [u8], address: usize) {
    let aligned = address.wrapping_neg() % 4..bytes.len();
    let locations: Vec<[Range<usize>; 2]> = aligned
        .step_by(4)
        .filter_map(|start| Some([start..start + LOCATION, path_at(bytes, start, address)?]))
        .collect();
    for range in locations.into_iter().flatten() {
        bytes[range].fill(0);
    }
}

/// Where the path stands of the location that begins at `start`, if one does.
fn path_at(bytes: &[u8], start: usize, address: usize) -> Option<Range<usize>> {
    let fields = bytes.get(start..start + LOCATION)?;
    let mut fields = fields
        .chunks(4)
        .map(|field| field.try_into().map(u32::from_le_bytes));
    let mut next = || fields.next()?.ok().map(|field| field as usize);
    let (path, length, line, column) = (next()?.checked_sub(address)?, next()?, next()?, next()?);
    let path = path..path.checked_add(length)?;
    let is_location = bytes.get(path.clone())?.ends_with(b".rs")
        && (1..100_000).contains(&line)
        && (1..1000).contains(&column);
    is_location.then_some(path)
}

#[cfg(test)]
mod tests {
    use walrus::FunctionBuilder;

    use super::*;

    #[test]
    fn functions_that_panic_are_traps_and_others_stay() {
        #[track_caller]
        fn check(name: &str, is_trap: bool) {
            let mut module = Module::default();
            let mut builder = FunctionBuilder::new(&mut module.types, &[], &[]);
            builder.name(name.to_owned()).func_body().i32_const(1).drop();
            let id = builder.finish(Vec::new(), &mut module.funcs);
            make_traps(&mut module);
            let body = module.funcs.get_mut(id).kind.unwrap_local_mut().builder_mut();
            let body: Vec<_> = body
                .func_body()
                .instrs_mut()
                .iter()
                .map(|(instruction, _)| instruction.clone())
                .collect();
            assert_eq!(
                matches!(body.as_slice(), [walrus::ir::Instr::Unreachable(_)]),
                is_trap,
                "{name}"
            );
        }

        check("core[c5930c85a12de822]::panicking::panic_fmt", true);
        check("core::panicking::assert_failed::had6f6558989f52a9", true);
        check("core[c5930c85a12de822]::option::unwrap_failed", true);
        check(
            "<alloc[3ca501edff3f0c7c]::vec::Vec<_, _>>::insert_mut::assert_failed",
            true,
        );
        check(
            "callgate_engine::judge::Case::host_failure::he7aeaa36e3fb83b5",
            false,
        );
        check("core[c5930c85a12de822]::str::converts::from_utf8", false);
    }

    #[test]
    fn a_location_and_its_path_are_overwritten() {
        let mut bytes = b"ab/c/d.rs, which stays..".to_vec();
        for field in [1026_u32, 7, 30, 5, 1026, 7, 0, 5] {
            bytes.extend(field.to_le_bytes());
        }
        clear_locations(&mut bytes, 1024);
        let mut expected = b"ab\0\0\0\0\0\0\0, which stays..".to_vec();
        expected.extend([0; 16]);
        for field in [1026_u32, 7, 0, 5] {
            expected.extend(field.to_le_bytes());
        }
        assert_eq!(
            bytes, expected,
            "a line is never 0, so the second is not a location"
        );
    }
}
