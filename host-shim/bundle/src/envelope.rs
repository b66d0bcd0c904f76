//! The envelope of DSSE: a payload, and signatures over it and its type.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::json::{self, Object};
use crate::key::{PublicKey, SecretKey};
use crate::payload::Payload;
use crate::refused::Refused;

/// Bytes of the longest envelope that is read.
pub const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The type of the payload, which is signed with it.
const PAYLOAD_TYPE: &str = "application/vnd.callgate.bundle.v1+json";

/// The most signatures of an envelope: each costs a look at the whole payload.
const MOST_SIGNATURES: usize = 8;

/// A bundle in its envelope, whoever signed it.
#[derive(Clone, Debug)]
pub struct Envelope {
    payload: Vec<u8>,
    signatures: Vec<Signature>,
}

#[derive(Clone, Debug)]
struct Signature {
    key: String,
    bytes: [u8; 64],
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Written {
    payload: String,
    payload_type: String,
    signatures: Vec<Object<WrittenSignature>>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WrittenSignature {
    keyid: String,
    sig: String,
}

/// Returns `true` if the text looks like an envelope of DSSE, whatever is in it: no document has its member `payloadType`.
pub fn is_envelope(text: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Typed {
        #[serde(rename = "payloadType")]
        _kind: IgnoredAny,
    }
    json::read::<Typed>(text).is_ok()
}

impl Envelope {
    /// An envelope without a signature.
    ///
    /// # Errors
    /// When it would be longer than what is read.
    pub fn of(payload: &Payload) -> Result<Self, Refused> {
        let envelope = Self {
            payload: payload.to_json().into_bytes(),
            signatures: Vec::new(),
        };
        envelope.checked()
    }

    /// Reads an envelope. Nobody has verified its payload then.
    ///
    /// # Errors
    /// When it is too long, or not written as an envelope of a bundle is.
    pub fn read(text: &[u8]) -> Result<Self, Refused> {
        if text.len() > MOST_BYTES {
            return Err(Refused::TooLong { most: MOST_BYTES });
        }
        let wrong = Refused::NotAnEnvelope;
        let written: Written = json::read(text).map_err(|error| wrong(error.to_string()))?;
        if written.payload_type != PAYLOAD_TYPE {
            let found = written.payload_type.escape_debug();
            return Err(wrong(format!(
                "`payloadType` is `{found}`, expected `{PAYLOAD_TYPE}`"
            )));
        }
        let payload = STANDARD.decode(&written.payload);
        let payload = payload.map_err(|error| wrong(format!("`payload`: {error}, expected base64")))?;
        let count = written.signatures.len();
        if count > MOST_SIGNATURES {
            return Err(wrong(format!(
                "{count} `signatures`, expected at most {MOST_SIGNATURES}"
            )));
        }
        let signatures = written.signatures.into_iter().enumerate();
        let signatures = signatures.map(|(at, Object(written))| {
            let bytes = STANDARD.decode(&written.sig).ok();
            let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
            let bytes =
                bytes.ok_or_else(|| wrong(format!("`signatures[{at}].sig`: expected 64 bytes in base64")))?;
            let key = written.keyid;
            Ok(Signature { key, bytes })
        });
        Ok(Self {
            payload,
            signatures: signatures.collect::<Result<_, _>>()?,
        })
    }

    /// Adds a signature, in place of an earlier one by the same key.
    ///
    /// # Errors
    /// When there are too many.
    pub fn sign(&mut self, key: &SecretKey) -> Result<(), Refused> {
        let id = key.public().id();
        self.signatures.retain(|signature| signature.key != id);
        if self.signatures.len() >= MOST_SIGNATURES {
            let message = format!("it has {MOST_SIGNATURES} `signatures` already, which is the most");
            return Err(Refused::NotAnEnvelope(message));
        }
        let bytes = key.sign(&signed_text(&self.payload));
        self.signatures.push(Signature { key: id, bytes });
        Ok(())
    }

    /// The payload, and the key among these that signed it. A signature names its key; that name is no proof, and only says which key
    /// has to verify it.
    pub(crate) fn verified(&self, keys: &[PublicKey]) -> Result<(&[u8], String), Refused> {
        if self.signatures.is_empty() {
            return Err(Refused::Unsigned);
        }
        let text = signed_text(&self.payload);
        let mut wrong = None;
        for signature in &self.signatures {
            match keys.iter().find(|key| key.id() == signature.key) {
                Some(key) if key.has_signed(&text, &signature.bytes) => {
                    return Ok((&self.payload, key.id()));
                }
                Some(_) => wrong = Some(signature.key.clone()),
                None => {}
            }
        }
        Err(match wrong {
            Some(key) => Refused::BadSignature { key },
            None => Refused::UnknownKey {
                signed: self.signed_by().map(str::to_owned).collect(),
                pinned: keys.iter().map(PublicKey::id).collect(),
            },
        })
    }

    /// The keys that the signatures name. Nobody has verified them.
    pub fn signed_by(&self) -> impl Iterator<Item = &str> {
        self.signatures.iter().map(|signature| signature.key.as_str())
    }

    /// The payload as it is, whoever wrote it: to be shown, not to be used.
    ///
    /// # Errors
    /// When it is no bundle.
    pub fn unverified(&self) -> Result<Payload, Refused> {
        Payload::read(&self.payload)
    }

    /// The text that [`Envelope::read`] reads.
    pub fn to_json(&self) -> String {
        let signatures = self.signatures.iter().map(|signature| {
            Object(WrittenSignature {
                keyid: signature.key.clone(),
                sig: STANDARD.encode(signature.bytes),
            })
        });
        let written = Written {
            payload: STANDARD.encode(&self.payload),
            payload_type: PAYLOAD_TYPE.to_owned(),
            signatures: signatures.collect(),
        };
        json::write(&written) + "\n"
    }

    fn checked(self) -> Result<Self, Refused> {
        // Room for the signatures.
        match self.to_json().len() + 4096 > MOST_BYTES {
            true => Err(Refused::TooLong { most: MOST_BYTES }),
            false => Ok(self),
        }
    }
}

/// What is signed: DSSE's pre-authentication encoding (<https://github.com/secure-systems-lab/dsse/blob/master/protocol.md>).
fn signed_text(payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {PAYLOAD_TYPE} {} ", PAYLOAD_TYPE.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

#[cfg(test)]
mod tests;
