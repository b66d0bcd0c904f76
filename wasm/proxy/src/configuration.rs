//! The configuration of a filter, as JSON text that may have comments and trailing commas:
//!
//! ```json
//! {
//!   "server": "docs",            // its name in the policy
//!   "bundle": {"policy": {…}},   // callgate.json with its documents written out, or a signed bundle
//!   "keys": ["callgate-public-key ed25519 …"],
//!   "name": "acme",
//!   "onlyTools": true,
//!   "context": {"mode": "work"}
//! }
//! ```
//!
//! All but `server` and `bundle` may be missing. `keys` and `name` are for a signed bundle: with them no other is used, and without
//! keys no signed one is.

use std::cell::Cell;
use std::sync::Arc;
use std::time::SystemTime;

use callgate_bundle::{NamedText, Opened, PublicKey, Timestamp, is_envelope};
use callgate_engine::engine::DisklessHost;
use callgate_engine::world::Context;
use callgate_guard::{Caller, Guard, GuardOptions};
use callgate_host::{BundleTexts, Gate, GateBuilder};
use callgate_jsontext::{place_of, without_comments};
use proxy_wasm::types::LogLevel;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Bytes of the longest name of a server.
const NAME: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Written<'t> {
    server: String,
    #[serde(borrow)]
    bundle: &'t RawValue,
    #[serde(default, deserialize_with = "given")]
    keys: Option<Vec<String>>,
    #[serde(default, deserialize_with = "given")]
    name: Option<String>,
    #[serde(default)]
    only_tools: bool,
    #[serde(borrow, default, deserialize_with = "given")]
    context: Option<&'t RawValue>,
}

/// A member that is there. A null is no way to say that it is not: whoever leaves keys out takes what nobody signed.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// What a filter judges by.
pub(crate) struct Loaded {
    guard: Arc<Guard>,
    /// The end of a signed bundle, until it was there.
    expires: Cell<Option<Timestamp>>,
    /// Bytes of answers that all requests keep until more of them has come.
    pub(crate) kept: Cell<usize>,
}

impl Loaded {
    /// Reads a configuration and compiles its documents.
    ///
    /// # Errors
    /// What is wrong with it, with the place, what was found there and what was expected.
    pub(crate) fn read(text: &[u8], now: SystemTime) -> Result<Self, String> {
        let text = std::str::from_utf8(text).map_err(|error| format!("{error}, expected UTF-8"))?;
        if text.trim().is_empty() {
            return Err("it is empty, expected a JSON object with `server` and `bundle`".to_owned());
        }
        let text = without_comments(text);
        let written: Written<'_> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let server = written.server;
        if server.is_empty() || server.len() > NAME || server.contains(char::is_control) {
            return Err(format!(
                "`server` is `{}`, expected 1 to {NAME} bytes without control characters",
                server.escape_debug()
            ));
        }
        let context = written.context.map(RawValue::get);
        if let Some(context) = context {
            Context::from_json(context).map_err(|error| format!("`context`: {error}"))?;
        }
        let (keys, name) = (written.keys, written.name);
        let (builder, expires) = match is_envelope(written.bundle.get().as_bytes()) {
            true => signed(written.bundle, &keys.unwrap_or_default(), name.as_deref(), now)?,
            false if keys.is_none() && name.is_none() => (plain(&text, written.bundle), None),
            false => {
                return Err(
                    "`bundle` is not signed, expected a signed one beside `keys` or `name`".to_owned(),
                );
            }
        };
        let gate = builder.host(Arc::new(DisklessHost)).build();
        let gate = gate.map_err(|error| error.to_string())?;
        for warning in gate.warnings() {
            warn(&warning.to_string());
        }
        let options = GuardOptions {
            server,
            pins: None,
            asking: None,
            audit: None,
            observe: false,
            only_tools: written.only_tools,
            context: context.map(str::to_owned),
            caller: Caller::default(),
            counts: None,
            warn,
            container_workspace_dir: None,
        };
        let guard = Guard::new(gate, options).map_err(|error| error.to_string())?;
        Ok(Self {
            guard: Arc::new(guard),
            expires: Cell::new(expires),
            kept: Cell::new(0),
        })
    }

    /// The guard, which denies everything once a signed bundle has expired.
    pub(crate) fn guard(&self, now: SystemTime) -> Arc<Guard> {
        if let Some(expires) = self.expires.get()
            && Timestamp::try_from(now).map_or(true, |now| now >= expires)
        {
            // Nothing is written that could fail, and it is expired all the same.
            let _ = self
                .guard
                .expire("the signed bundle has expired: every call is denied until there is a newer one");
            self.expires.set(None);
        }
        Arc::clone(&self.guard)
    }
}

/// The builder by a bundle without a signature. Faults have their lines and columns in the configuration.
fn plain(text: &str, bundle: &RawValue) -> GateBuilder {
    let before = place_of(text, bundle.get()).and_then(|place| text.get(..place.start));
    let before = before.unwrap_or_default();
    let blank = |char| if char == '\n' { '\n' } else { ' ' };
    let placed: String = before.chars().map(blank).chain(bundle.get().chars()).collect();
    Gate::builder().bundle_texts(BundleTexts {
        place: "configuration".to_owned(),
        folder: None,
        files: vec![("bundle".to_owned(), placed)],
    })
}

/// The builder by a signed bundle, and the time of its end.
fn signed(
    bundle: &RawValue,
    keys: &[String],
    name: Option<&str>,
    now: SystemTime,
) -> Result<(GateBuilder, Option<Timestamp>), String> {
    if keys.is_empty() {
        return Err("`bundle` is signed, expected the `keys` of which one must have signed it".to_owned());
    }
    let pinned = keys.iter().enumerate().map(|(at, key)| {
        PublicKey::read(key).map_err(|error| format!("`keys[{at}]` is `{}`: {error}", key.escape_debug()))
    });
    let pinned = pinned.collect::<Result<Vec<_>, _>>()?;
    let now = Timestamp::try_from(now).map_err(|error| format!("the proxy's clock: {error}"))?;
    let opened = Opened::read(bundle.get().as_bytes(), &pinned, name, now);
    let Opened { payload, .. } = opened.map_err(|error| format!("`bundle`: {error}"))?;
    let place = format!("{}@{}", payload.name(), payload.revision());
    let files = payload.files().iter();
    let files = files.map(|NamedText { name, text }| (name.clone(), text.clone()));
    let builder = Gate::builder().name(&*place).bundle_texts(BundleTexts {
        place,
        folder: None,
        files: files.collect(),
    });
    Ok((builder, Some(payload.expires())))
}

fn warn(message: &str) {
    crate::log(LogLevel::Warn, message);
}
