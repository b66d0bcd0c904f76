//! An image for containers, as an OCI layout in a tar archive: <https://github.com/opencontainers/image-spec>.
//!
//! It has the program and nothing else, so it is written without an engine. The container needs no other file, no capability and
//! no user of root's, and may have a root that is read-only.

use serde_json::{Value, json};

use crate::archive::{Entry, gzip, tar};
use crate::binary::Binary;
use crate::{Artifact, LICENSE, REPOSITORY, SUMMARY, VERSION, digest};

/// The guard over HTTP. The container's network says who reaches the port, and `--client-token-env` who may speak to it.
const ENTRY_POINT: [&str; 5] = ["/callgate", "guard", "--listen", "0.0.0.0:8642", "--allow-remote"];

/// A user without a name, which has no file.
const USER: &str = "65532:65532";

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// The tag by which engines find an image in a layout.
const TAG: &str = "org.opencontainers.image.ref.name";

/// The files of a layout.
struct Layout(Vec<Entry>);

impl Layout {
    /// Adds what is named by its digest, and returns its descriptor.
    fn blob(&mut self, kind: &str, bytes: Vec<u8>) -> Value {
        let digest = digest(&bytes);
        let descriptor =
            json!({"mediaType": kind, "digest": format!("sha256:{digest}"), "size": bytes.len()});
        let path = format!("blobs/sha256/{digest}");
        self.0.push(Entry::file(&path, bytes));
        descriptor
    }
}

/// One image for all platforms under the tag of the version, and one for each under a tag of its own.
pub(crate) fn of(binaries: &[Binary]) -> Result<Artifact, String> {
    let mut layout = Layout(vec![Entry::file(
        "oci-layout",
        br#"{"imageLayoutVersion":"1.0.0"}"#.to_vec(),
    )]);
    let mut manifests = Vec::new();
    for binary in binaries {
        manifests.push(manifest(&mut layout, binary)?);
    }
    let all =
        json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": manifests, "annotations": labels()});
    let mut tagged = vec![with_tag(
        layout.blob(INDEX, all.to_string().into_bytes()),
        VERSION,
    )];
    for (manifest, binary) in manifests.into_iter().zip(binaries) {
        tagged.push(with_tag(
            manifest,
            &format!("{VERSION}-{}", binary.platform.debian),
        ));
    }
    let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": tagged});
    layout
        .0
        .push(Entry::file("index.json", index.to_string().into_bytes()));
    Ok(Artifact {
        name: format!("callgate-{VERSION}-oci.tar"),
        bytes: tar(&layout.0)?,
    })
}

fn manifest(layout: &mut Layout, binary: &Binary) -> Result<Value, String> {
    let platform = json!({"os": "linux", "architecture": binary.platform.debian});
    let files = tar(&[Entry::program("callgate", binary.bytes.clone())])?;
    let config = json!({
        "os": "linux",
        "architecture": binary.platform.debian,
        "config": {
            "User": USER,
            "WorkingDir": "/",
            "Entrypoint": ENTRY_POINT,
            "ExposedPorts": {"8642/tcp": {}},
            "Labels": labels(),
        },
        "rootfs": {"type": "layers", "diff_ids": [format!("sha256:{}", digest(&files))]},
        "history": [{"created_by": "cargo release"}],
    });
    let layer = layout.blob(LAYER, gzip(&files)?);
    let config = layout.blob(CONFIG, config.to_string().into_bytes());
    let manifest = json!({"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer]});
    let mut descriptor = layout.blob(MANIFEST, manifest.to_string().into_bytes());
    descriptor["platform"] = platform;
    Ok(descriptor)
}

fn labels() -> Value {
    json!({
        "org.opencontainers.image.title": "callgate",
        "org.opencontainers.image.description": SUMMARY,
        "org.opencontainers.image.version": VERSION,
        "org.opencontainers.image.source": REPOSITORY,
        "org.opencontainers.image.licenses": LICENSE,
    })
}

fn with_tag(mut descriptor: Value, tag: &str) -> Value {
    descriptor["annotations"] = json!({TAG: tag});
    descriptor
}
