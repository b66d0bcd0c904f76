//! The name of a server in the metadata of gRPC, and the subject that asks.

use tonic::Extensions;
use tonic::metadata::MetadataMap;

use crate::tokens::Subject;

/// The metadata that names the server. A proxy's configuration sets it, where no client can.
pub(crate) const SERVER: &str = "callgate-server";

/// The server that a request is for, if it names one.
pub(crate) fn server_of(metadata: &MetadataMap) -> Result<Option<String>, String> {
    let mut named = metadata.get_all(SERVER).iter();
    let first = named.next();
    if named.next().is_some() {
        return Err(format!("the metadata `{SERVER}` occurs twice"));
    }
    let text = first.map(|value| value.to_str().map(str::to_owned));
    text.transpose()
        .map_err(|_| format!("the metadata `{SERVER}` is not ASCII"))
}

/// The subject that the router found in the token of a request.
pub(crate) fn subject_of(extensions: &Extensions) -> Subject {
    extensions.get::<Subject>().cloned().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_is_named() {
        let mut metadata = MetadataMap::new();
        assert_eq!(server_of(&metadata), Ok(None));
        metadata.append(SERVER, "a".parse().unwrap());
        assert_eq!(server_of(&metadata), Ok(Some("a".to_owned())));
        metadata.append(SERVER, "b".parse().unwrap());
        assert!(server_of(&metadata).is_err());
    }
}
