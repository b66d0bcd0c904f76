//! Bytes that are not the component, and where compiled components are kept.

use callgate_host::{COMPONENT, GateError, Unusable};

use crate::{Answering, builder, read};

fn honest(path: &str) -> Result<String, callgate_engine::host::RealpathError> {
    Ok(path.to_owned())
}

fn refused(bytes: &[u8]) -> Unusable {
    match builder(Answering(honest))
        .component(bytes)
        .without_cache()
        .build()
    {
        Err(GateError::Component(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{} bytes are not a component", bytes.len()),
    }
}

#[test]
fn what_is_no_component_is_an_error() {
    for bytes in [&b""[..], b"\0asm", b"#!/bin/sh\n", b"\0asm\x01\0\0\0", b"\x7fELF"] {
        assert!(matches!(refused(bytes), Unusable::Malformed(_)), "{bytes:?}");
    }
}

#[test]
fn a_truncated_component_is_an_error() {
    for length in [9, 100, COMPONENT.len() / 2, COMPONENT.len() - 1] {
        let error = refused(&COMPONENT[..length]);
        assert!(matches!(error, Unusable::Malformed(_)), "{length}: {error}");
    }
}

/// A component that imports these and does nothing, byte by byte as
/// <https://github.com/WebAssembly/component-model/blob/main/design/mvp/Binary.md> has it.
fn importing(imports: &[(&str, Kind)]) -> Vec<u8> {
    let now = [0x40, 0, 0, 0x77]; // (func (result u64))
    let exports_now = [&[0x42, 2, 1][..], &now, &[4, 0, 3], b"now", &[1, 0]].concat();
    let types = [&[3, 0x42, 0][..], &exports_now, &now].concat();
    let mut named = vec![imports.len() as u8];
    for (name, kind) in imports {
        named.extend([0, name.len() as u8]);
        named.extend(name.as_bytes());
        named.extend(match kind {
            Kind::Empty => [5, 0],
            Kind::Clock => [5, 1],
            Kind::Function => [1, 2],
        });
    }
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    for (id, section) in [(7, types), (10, named)] {
        assert!(section.len() < 128, "a length is one byte here");
        bytes.extend([id, section.len() as u8]);
        bytes.extend(section);
    }
    bytes
}

/// The kind of an import.
enum Kind {
    /// An instance without anything.
    Empty,
    /// An instance with a function `now`.
    Clock,
    /// A function.
    Function,
}

const HOST: &str = "callgate:gate/host@0.1.0";

#[test]
fn a_component_that_imports_more_is_an_error_that_names_it() {
    let clock = "wasi:clocks/monotonic-clock@0.2.0";
    let error = refused(&importing(&[
        (HOST, Kind::Empty),
        (clock, Kind::Clock),
        ("now", Kind::Function),
    ]));
    assert_eq!(error, Unusable::Imports(vec![clock.to_owned(), "now".to_owned()]));
    let expected = format!("the component imports `{clock}`, `now`, expected nothing besides `{HOST}`");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_component_without_the_contract_is_an_error() {
    for imports in [&[][..], &[(HOST, Kind::Empty)], &[(HOST, Kind::Clock)]] {
        let error = refused(&importing(imports));
        assert!(matches!(error, Unusable::Contract(_)), "{error}");
    }
}

#[test]
fn a_component_is_compiled_once_and_again_when_what_was_kept_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let build = || {
        let builder = builder(Answering(honest)).component(COMPONENT);
        let gate = builder.cache_folder(folder.path().join("kept")).build().unwrap();
        assert_eq!(gate.evaluate(&read("a")).unwrap().decision.as_str(), "allow");
        gate.timings().component.expect("a component was started").cached
    };
    assert_eq!([build(), build()], [false, true]);
    let kept: Vec<_> = std::fs::read_dir(folder.path().join("kept")).unwrap().collect();
    let [Ok(file)] = kept.as_slice() else {
        panic!("{kept:?}");
    };
    let mut bytes = std::fs::read(file.path()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(file.path(), bytes).unwrap();
    assert_eq!([build(), build()], [false, true]);
}
