//! Builds and optimizes the WebAssembly faces of Callgate: `cargo pack [FACE…]`. A face is `gate`, `tools`, `component` or
//! `proxy`; `js` is all but the last two, and without an argument all are built.
//!
//! Compiles each face for `wasm32-unknown-unknown`. For JavaScript, wasm-bindgen writes its part, panics become traps, binaryen
//! optimizes the module, and what the npm package needs is put into `js/wasm`. There are three modules: the engine's
//! (`callgate-wasm`), and two that are loaded when they are needed, `callgate-tools-wasm` by the first call of a function that needs
//! no engine and by the entry `callgate/tools`, and `callgate-git-wasm` by the package's Node host, when it is asked about git. The
//! reference pages are put into `js/docs`. The component for its hosts, and the filter for proxies, are put into `wasm/dist`. Prints the sizes; npm's
//! tests hold the gate's, compressed, against its budget.

mod order;
mod panics;
mod proxy;
mod roles;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;

use callgate_pack::{Face, compile, component, succeed};
use wasm_bindgen_cli_support::Bindgen;

/// The features of WebAssembly that the compiler may use. Every engine of recent years has them.
const FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // For profiles: a larger module that has the names of its functions.
    let keeps_names = arguments.iter().any(|argument| argument == "--names");
    let names: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .filter(|argument| *argument != "--names")
        .collect();
    match pack(&names, keeps_names) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The modules for JavaScript: the face's name here, that of its file, and the face.
const MODULES: [(&str, &str, Face); 3] = [
    ("gate", "callgate", Face::JavaScript),
    ("gate", "git", Face::Git),
    ("tools", "tools", Face::Tools),
];

/// Builds the named faces. The compiler makes one after the other; meanwhile those that it has made are optimized.
fn pack(names: &[&str], keeps_names: bool) -> Result<(), Box<dyn Error>> {
    let is_known = |name: &str| {
        matches!(name, "js" | "component" | "proxy") || MODULES.iter().any(|(known, ..)| *known == name)
    };
    if let Some(name) = names.iter().find(|name| !is_known(name)) {
        return Err(format!("found `{name}`, expected `gate`, `tools`, `js`, `component` or `proxy`").into());
    }
    let root = root()?;
    let is_asked = |name: &str| names.is_empty() || names.contains(&name);
    let modules = MODULES
        .iter()
        .filter(|(name, ..)| is_asked("js") || is_asked(name));
    thread::scope(|scope| {
        let mut optimizing = Vec::new();
        for &(_, name, face) in modules {
            let module = fs::read(compile(&root, &target(&root), face)?)?;
            let root = &root;
            optimizing.push(
                scope.spawn(move || bind(root, name, module, keeps_names).map_err(|error| error.to_string())),
            );
        }
        if is_asked("component") {
            pack_component(&root)?;
        }
        if is_asked("proxy") {
            put(
                &root,
                "callgate.proxy.wasm",
                &proxy::build(&root, &target(&root))?,
            )?;
        }
        for bound in optimizing {
            bound.join().map_err(|_| "a module could not be optimized")??;
        }
        Ok::<(), Box<dyn Error>>(())
    })?;
    if is_asked("js") || is_asked("gate") {
        let out = root.join("js/wasm");
        fs::write(out.join("roles.js"), roles::javascript()?)?;
        fs::write(out.join("roles.d.ts"), roles::declarations()?)?;
        copy_pages(&root)?;
    }
    Ok(())
}

/// Puts the reference pages into the npm package: those that `callgate help` and the documentation of the core show.
fn copy_pages(root: &Path) -> Result<(), Box<dyn Error>> {
    let out = root.join("js/docs");
    fs::create_dir_all(&out)?;
    for page in callgate_core::docs::PAGES {
        fs::write(out.join(format!("{}.md", page.topic)), page.text)?;
    }
    Ok(())
}

/// Puts a module into `js/wasm`, with the bindings that wasm-bindgen writes, and prints its size.
fn bind(root: &Path, name: &str, module: Vec<u8>, keeps_names: bool) -> Result<(), Box<dyn Error>> {
    let js = root.join("js");
    let out = js.join("wasm");
    fs::create_dir_all(&out)?;
    let mut output = Bindgen::new()
        .input_bytes(name, module)
        .web(true)?
        .typescript(true)
        .omit_default_module_path(true)
        .reset_state_function(true)
        .remove_name_section(false)
        .remove_producers_section(true)
        .generate_output()?;
    fs::write(out.join(format!("{name}.js")), output.js())?;
    fs::write(out.join(format!("{name}.d.ts")), output.ts().unwrap_or_default())?;
    panics::make_traps(output.wasm_mut());
    let module = out.join(format!("{name}.wasm"));
    let optimized = optimize(&js, &output.wasm_mut().emit_wasm(), &module, keeps_names)?;
    println!("{name}.wasm: {} bytes", optimized.len());
    Ok(())
}

/// Builds the component in the directory in which the build script of `callgate-host` builds it too: both are the same. The
/// compiler has optimized it; binaryen took minutes for two percent of its size.
fn pack_component(root: &Path) -> Result<(), Box<dyn Error>> {
    let encoded = component::build(root, &target(root).join("component"))?;
    put(root, "callgate.component.wasm", &encoded)
}

/// Puts a module into `wasm/dist`, and prints its size.
fn put(root: &Path, name: &str, module: &[u8]) -> Result<(), Box<dyn Error>> {
    let out = root.join("wasm/dist");
    fs::create_dir_all(&out)?;
    fs::write(out.join(name), module)?;
    println!("{name}: {} bytes", module.len());
    Ok(())
}

fn root() -> std::io::Result<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()
}

fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Optimizes the module with the binaryen that npm installed in `js`.
fn optimize(js: &Path, module: &[u8], out: &Path, keeps_names: bool) -> Result<Vec<u8>, Box<dyn Error>> {
    let wasm_opt = js.join("node_modules/.bin/wasm-opt");
    if !wasm_opt.exists() {
        return Err(format!(
            "`{}` is missing: run `npm ci` in `{}`",
            wasm_opt.display(),
            js.display()
        )
        .into());
    }
    // Engines compile a function whole when it is first called: what only some documents need stays apart from its one
    // caller. Brotli packs the zeros among the data better than a thousand segments without them. The first kilobyte is the
    // far end of the stack, where no address points that is a sum. Each takes a percent off, or half of one. Functions of
    // similar names are often alike, which is where the search for likeness begins.
    let passes = [
        "-O3",
        "--one-caller-inline-max-function-size=60",
        "--low-memory-unused",
        "--skip-pass=memory-packing",
        "--reorder-functions-by-name",
    ];
    if keeps_names {
        return run(&wasm_opt, module, out, &[&passes[..], &["--debuginfo"]].concat());
    }
    let optimized = run(
        &wasm_opt,
        module,
        out,
        &[&passes[..], &["--strip-debug"]].concat(),
    )?;
    let named = order::name_by_likeness(&optimized)?;
    // One percent less than by name alone.
    run(
        &wasm_opt,
        &named,
        out,
        &["--reorder-functions-by-name", "--strip-debug"],
    )
}

/// Puts the module through binaryen, which writes it to `out`.
fn run(wasm_opt: &Path, module: &[u8], out: &Path, arguments: &[&str]) -> Result<Vec<u8>, Box<dyn Error>> {
    let raw = out.with_extension("raw.wasm");
    fs::write(&raw, module)?;
    let mut command = Command::new(wasm_opt);
    command
        .args(arguments)
        .args(FEATURES)
        .arg(&raw)
        .arg("-o")
        .arg(out);
    let done = succeed(&mut command);
    fs::remove_file(&raw)?;
    done?;
    Ok(fs::read(out)?)
}
