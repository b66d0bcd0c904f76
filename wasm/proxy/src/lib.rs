//! The engine as a filter within a proxy, by the ABI of proxy-wasm: for MCP servers over Streamable HTTP, without a hop.
//!
//! What becomes of a message is what the guard says ([`callgate_guard::http::Exchange`]), as at every proxy. Here are its
//! `configuration`, and the `filter` that a proxy shows requests and answers to.
//!
//! A panic is a trap, and the proxy answers the request with an error, unless it is told to let it pass (`failure_policy: FAIL_OPEN`).

#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod configuration;
mod filter;

use std::rc::Rc;

use proxy_wasm::hostcalls;
use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{ContextType, LogLevel};

use configuration::Loaded;
use filter::Filter;

#[allow(missing_docs, reason = "a macro writes the function; tests have no such lint")]
mod exported {
    proxy_wasm::main! {{
        proxy_wasm::set_root_context(|_| Box::new(super::Plugin::default()));
    }}
}

/// The filter of one configuration.
#[derive(Default)]
struct Plugin {
    loaded: Option<Rc<Loaded>>,
}

impl Context for Plugin {}

impl RootContext for Plugin {
    fn on_configure(&mut self, _: usize) -> bool {
        let text = self.get_plugin_configuration().unwrap_or_default();
        match Loaded::read(&text, self.get_current_time()) {
            Ok(loaded) => {
                self.loaded = Some(Rc::new(loaded));
                true
            }
            Err(why) => {
                // What was loaded before is not what is configured.
                self.loaded = None;
                log(LogLevel::Error, &format!("the configuration is refused: {why}"));
                false
            }
        }
    }

    fn create_http_context(&self, _: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Filter::new(self.loaded.clone())))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

/// Tells the proxy's log, in which the name of the filter stands before it.
fn log(level: LogLevel, message: &str) {
    // A proxy that does not take it has no place for it.
    let _ = hostcalls::log(level, message);
}
