//! Bundles in a registry of OCI, each the one layer of an artifact.
//!
//! This is the part of <https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md> that fetches one blob and puts one
//! there, over the client that the guard makes: with its certificates, its bounds, and its say in where an answer may lead.

use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH, LOCATION,
    WWW_AUTHENTICATE,
};
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::address::Reference;
use crate::credentials::{Credentials, Secret, header};
use crate::envelope::MOST_BYTES;
use crate::http::{Fetched, Unfetched, body, may_lead};
use crate::json;
use crate::key::hexadecimal;

/// <https://github.com/opencontainers/image-spec/blob/v1.1.0/manifest.md>
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const EMPTY: &str = "application/vnd.oci.empty.v1+json";

/// What a bundle is, as an artifact and as its layer.
const BUNDLE: &str = "application/vnd.callgate.bundle.v1+json";

/// Bytes of the longest manifest, and of the longest answer with a token.
const MOST_SMALL: usize = 256 * 1024;

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    schema_version: u32,
    media_type: Option<String>,
    artifact_type: Option<String>,
    config: Descriptor,
    layers: Vec<Descriptor>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: String,
    digest: String,
    size: usize,
}

impl Descriptor {
    fn of(media_type: &str, bytes: &[u8]) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: digest(bytes),
            size: bytes.len(),
        }
    }
}

fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hexadecimal(&Sha256::digest(bytes)))
}

/// A repository, and what it is told about who asks.
pub(crate) struct Repository<'a> {
    client: &'a Client,
    reference: &'a Reference,
    credentials: &'a Credentials,
    secret: Option<&'a Secret>,
    authorization: Option<HeaderValue>,
}

/// A question to a registry.
struct Question<'q> {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: &'q [u8],
}

impl Question<'_> {
    fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: &[],
        }
    }
}

impl<'a> Repository<'a> {
    pub(crate) fn new(
        client: &'a Client,
        reference: &'a Reference,
        credentials: &'a Credentials,
    ) -> Result<Self, Unfetched> {
        let secret = credentials.of(&reference.registry);
        let token = secret.filter(|secret| matches!(secret, Secret::Token(_)));
        Ok(Self {
            client,
            reference,
            credentials,
            secret,
            authorization: token.map(Secret::header).transpose()?,
        })
    }

    /// The bundle that the reference names, unless the registry gives it this name still.
    pub(crate) async fn pull(&mut self, etag: Option<&str>) -> Result<Fetched, Unfetched> {
        let manifests = self
            .reference
            .of_repository(&format!("manifests/{}", self.reference.tag));
        let mut question = Question::new(Method::GET, manifests);
        question
            .headers
            .insert(ACCEPT, HeaderValue::from_static(MANIFEST));
        if let Some(etag) = etag.and_then(|etag| HeaderValue::try_from(etag).ok()) {
            question.headers.insert(IF_NONE_MATCH, etag);
        }
        let response = self.ask(&question).await?;
        if response.status() == StatusCode::NOT_MODIFIED && etag.is_some() {
            return Ok(Fetched::Unchanged);
        }
        let response = expect(response, &question, StatusCode::OK)?;
        let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
        let etag = etag.map(str::to_owned);
        let text = body(response, MOST_SMALL).await?;
        if let Some(expected) = self
            .reference
            .digest()
            .filter(|expected| *expected != digest(&text))
        {
            return Err(Unfetched::Other(format!(
                "the manifest is not the one with the digest `{expected}`"
            )));
        }
        let layer = bundle_in(&text)?;
        let question = Question::new(
            Method::GET,
            self.reference.of_repository(&format!("blobs/{}", layer.digest)),
        );
        let response = expect(self.ask(&question).await?, &question, StatusCode::OK)?;
        let text = body(response, MOST_BYTES).await?;
        if digest(&text) != layer.digest {
            return Err(Unfetched::Other(format!(
                "the layer is not the one with the digest `{}`",
                layer.digest
            )));
        }
        Ok(Fetched::New { text, etag })
    }

    /// Puts a bundle there, and gives the digest of its manifest.
    pub(crate) async fn push(&mut self, bundle: &[u8]) -> Result<String, Unfetched> {
        if self.reference.digest().is_some() {
            return Err(Unfetched::Other(
                "a bundle is put under a tag, expected `oci://REGISTRY/NAME:TAG`".to_owned(),
            ));
        }
        let config: &[u8] = b"{}";
        let (config_of, layer_of) = (Descriptor::of(EMPTY, config), Descriptor::of(BUNDLE, bundle));
        self.put_blob(&config_of.digest, config).await?;
        self.put_blob(&layer_of.digest, bundle).await?;
        let manifest = json::write(&Manifest {
            schema_version: 2,
            media_type: Some(MANIFEST.to_owned()),
            artifact_type: Some(BUNDLE.to_owned()),
            config: config_of,
            layers: vec![layer_of],
        });
        let manifests = self
            .reference
            .of_repository(&format!("manifests/{}", self.reference.tag));
        let mut question = Question::new(Method::PUT, manifests);
        question
            .headers
            .insert(CONTENT_TYPE, HeaderValue::from_static(MANIFEST));
        question.body = manifest.as_bytes();
        expect(self.ask(&question).await?, &question, StatusCode::CREATED)?;
        Ok(digest(manifest.as_bytes()))
    }

    async fn put_blob(&mut self, digest: &str, bytes: &[u8]) -> Result<(), Unfetched> {
        let there = Question::new(
            Method::HEAD,
            self.reference.of_repository(&format!("blobs/{digest}")),
        );
        if self.ask(&there).await?.status() == StatusCode::OK {
            return Ok(());
        }
        let begin = Question::new(Method::POST, self.reference.of_repository("blobs/uploads/"));
        let response = expect(self.ask(&begin).await?, &begin, StatusCode::ACCEPTED)?;
        let location = response
            .headers()
            .get(LOCATION)
            .and_then(|place| place.to_str().ok());
        let location = location.and_then(|place| response.url().join(place).ok());
        let location = location.filter(|place| may_lead(&self.reference.registry, place));
        let mut place = location.ok_or_else(|| "the registry does not say where a blob is put".to_owned())?;
        place.query_pairs_mut().append_pair("digest", digest);
        let mut question = Question::new(Method::PUT, place);
        question
            .headers
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        question.body = bytes;
        expect(self.ask(&question).await?, &question, StatusCode::CREATED)?;
        Ok(())
    }

    /// Asks, and once more where the registry first wants to know who asks.
    async fn ask(&mut self, question: &Question<'_>) -> Result<Response, Unfetched> {
        let response = self.send(question).await?;
        // Another server may be the one that answers: the registry leads there for blobs.
        if response.status() != StatusCode::UNAUTHORIZED || !self.is_of_registry(response.url()) {
            return Ok(response);
        }
        let challenges = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let challenge = challenges
            .filter_map(|text| Challenge::read(text.to_str().ok()?))
            .next();
        self.authorization = match challenge {
            Some(Challenge::Basic) => match self.secret {
                Some(secret @ Secret::Password(_)) => Some(secret.header()?),
                Some(Secret::Token(_)) | None => return Ok(response),
            },
            Some(Challenge::Bearer { realm, asked }) => Some(self.token(&realm, &asked).await?),
            None => return Ok(response),
        };
        self.send(question).await
    }

    async fn send(&self, question: &Question<'_>) -> Result<Response, Unfetched> {
        let request = self.client.request(question.method.clone(), question.url.clone());
        let request = request
            .headers(question.headers.clone())
            .body(question.body.to_vec());
        // Another server has nothing to know of it.
        let authorization = self
            .authorization
            .clone()
            .filter(|_| self.is_of_registry(&question.url));
        let request = match authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        };
        Ok(request.send().await?)
    }

    fn is_of_registry(&self, url: &Url) -> bool {
        url.origin() == self.reference.registry.origin()
    }

    /// The secret for where tokens are: the registry's where that is the registry itself, and one for that server elsewhere. Who
    /// answers for a registry could else name a server that gets it.
    fn secret_of(&self, realm: &Url) -> Option<&'a Secret> {
        match self.is_of_registry(realm) {
            true => self.secret,
            false => self.credentials.of(realm),
        }
    }

    /// A token from where the registry says that there are some.
    /// <https://distribution.github.io/distribution/spec/auth/token/>
    async fn token(&self, realm: &str, asked: &[(String, String)]) -> Result<HeaderValue, Unfetched> {
        #[derive(Deserialize)]
        struct Given {
            token: Option<String>,
            access_token: Option<String>,
        }
        let realm = Url::parse(realm)
            .ok()
            .filter(|to| may_lead(&self.reference.registry, to));
        let mut realm =
            realm.ok_or_else(|| "the registry has tokens at an address that is not followed".to_owned())?;
        realm.query_pairs_mut().extend_pairs(asked);
        let mut request = self.client.get(realm.clone());
        if let Some(secret @ Secret::Password(_)) = self.secret_of(&realm) {
            request = request.header(AUTHORIZATION, secret.header()?);
        }
        let response = request.send().await?;
        let status = response.status();
        if status != StatusCode::OK {
            let host = realm.host_str().unwrap_or_default();
            return Err(Unfetched::Other(format!(
                "`{host}` answered HTTP {status} and no token"
            )));
        }
        let given: Result<Given, _> = serde_json::from_slice(&body(response, MOST_SMALL).await?);
        let token = given.ok().and_then(|given| given.token.or(given.access_token));
        let token = token.ok_or_else(|| "the registry's answer has no token".to_owned())?;
        Ok(header("Bearer", &token)?)
    }
}

fn is_digest(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:");
    digits.is_some_and(|digits| digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// The one layer of a manifest that is a bundle.
fn bundle_in(manifest: &[u8]) -> Result<Descriptor, Unfetched> {
    let read: Result<Manifest, _> = serde_json::from_slice(manifest);
    let read = read.map_err(|error| format!("the manifest cannot be read: {error}"))?;
    let mut layers = read.layers.into_iter().filter(|layer| layer.media_type == BUNDLE);
    match (layers.next(), layers.next()) {
        // It becomes part of an address.
        (Some(layer), None) if is_digest(&layer.digest) => Ok(layer),
        (Some(layer), None) => Err(Unfetched::Other(format!(
            "the manifest has the digest `{}`, expected `sha256:` and 64 hexadecimal digits",
            layer.digest
        ))),
        (_, _) => Err(Unfetched::Other(format!(
            "the manifest has no bundle, expected one layer of `{BUNDLE}`"
        ))),
    }
}

fn expect(response: Response, question: &Question<'_>, expected: StatusCode) -> Result<Response, Unfetched> {
    let status = response.status();
    if status == expected {
        return Ok(response);
    }
    let (method, path) = (&question.method, question.url.path());
    let hint = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ": it wants other credentials",
        _ => "",
    };
    Err(Unfetched::Other(format!(
        "the registry answered HTTP {status} to `{method} {path}`{hint}"
    )))
}

/// How a registry wants to know who asks.
#[derive(Debug, PartialEq, Eq)]
enum Challenge {
    Basic,
    Bearer {
        realm: String,
        /// What the token is asked for.
        asked: Vec<(String, String)>,
    },
}

impl Challenge {
    /// <https://www.rfc-editor.org/rfc/rfc9110#section-11.6.1>, of one challenge.
    fn read(text: &str) -> Option<Self> {
        let (scheme, mut rest) = text.split_once(' ').unwrap_or((text, ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let (mut realm, mut asked) = (None, Vec::new());
        while let Some((name, value)) = rest.split_once('=') {
            let (value, after) = match value.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"')?,
                None => value.split_once(',').unwrap_or((value, "")),
            };
            match name.trim_matches([' ', ',']) {
                "realm" => realm = Some(value.to_owned()),
                name @ ("service" | "scope") => asked.push((name.to_owned(), value.to_owned())),
                _ => {}
            }
            rest = after;
        }
        realm.map(|realm| Self::Bearer { realm, asked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read() {
        let bearer = |realm: &str, asked: &[(&str, &str)]| {
            let asked = asked
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            Some(Challenge::Bearer {
                realm: realm.to_owned(),
                asked: asked.collect(),
            })
        };
        for (text, expected) in [
            ("Basic realm=\"r\"", Some(Challenge::Basic)),
            ("basic", Some(Challenge::Basic)),
            (
                r#"Bearer realm="https://a.example/token",service="s",scope="repository:acme/p:pull,push""#,
                bearer(
                    "https://a.example/token",
                    &[("service", "s"), ("scope", "repository:acme/p:pull,push")],
                ),
            ),
            (
                r#"bearer service=s, realm="https://a.example/t", error="insufficient_scope""#,
                bearer("https://a.example/t", &[("service", "s")]),
            ),
            ("Bearer scope=\"x\"", None),
            ("Bearer realm=\"x", None),
            ("Negotiate", None),
        ] {
            assert_eq!(Challenge::read(text), expected, "{text}");
        }
    }

    #[test]
    fn a_manifest_has_one_bundle() {
        let named = digest(b"");
        let layer = |kind: &str| format!(r#"{{"mediaType": "{kind}", "digest": "{named}", "size": 1}}"#);
        let manifest = |layers: &[&str]| {
            let layers: Vec<String> = layers.iter().map(|kind| layer(kind)).collect();
            let config = layer(EMPTY);
            format!(
                r#"{{"schemaVersion": 2, "annotations": {{}}, "config": {config}, "layers": [{}]}}"#,
                layers.join(",")
            )
        };
        let found = |text: &str| {
            bundle_in(text.as_bytes())
                .map(|layer| layer.digest)
                .map_err(Unfetched::said)
        };
        assert_eq!(found(&manifest(&["text/plain", BUNDLE])).as_deref(), Ok(&*named));
        for wrong in ["sha256:0", "../x", &named.replace("256", "512")] {
            let text = manifest(&[BUNDLE]).replace(&named, wrong);
            assert!(found(&text).unwrap_err().contains(wrong), "{wrong}");
        }
        for text in [manifest(&[]), manifest(&[EMPTY]), manifest(&[BUNDLE, BUNDLE])] {
            assert!(
                found(&text)
                    .unwrap_err()
                    .starts_with("the manifest has no bundle"),
                "{text}"
            );
        }
        assert!(
            found("{\"layers\": []}")
                .unwrap_err()
                .starts_with("the manifest cannot be read")
        );
    }
}
