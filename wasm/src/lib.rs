//! The engine as WebAssembly: one crate, one face at a time.
//!
//! Feature `js` is the face for JavaScript, made with wasm-bindgen; the npm package `callgate` is written only against
//! it. Two features are faces of modules beside it: `functions` has the functions that need no engine, and `analysis` looks at a
//! policy as a whole. Feature `component` is the face for hosts of WebAssembly components; `wit/callgate.wit` is its contract. All
//! decode, call, encode and adapt the host, and make no decision of their own.

#[cfg(any(
    all(
        feature = "js",
        any(feature = "functions", feature = "analysis", feature = "component")
    ),
    all(feature = "functions", any(feature = "analysis", feature = "component")),
    all(feature = "analysis", feature = "component"),
))]
compile_error!("a module has one face: build with the feature `js`, `functions`, `analysis` or `component`");

#[cfg(feature = "component")]
mod component;
#[cfg(any(feature = "js", feature = "functions", feature = "analysis"))]
pub mod js;
