//! The schemas that the package ships are those of the readers. Whether these are right is the question of `tests/schemas`.

#![allow(
    clippy::panic,
    clippy::expect_used,
    reason = "a failing test stops where it fails"
)]

use std::fs;
use std::path::Path;

use callgate_authoring::schema::Schema;

#[test]
fn the_package_ships_the_schemas() {
    for schema in Schema::ALL {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../js/schemas/{schema}.json"));
        let shipped = fs::read_to_string(path).expect("a schema");
        let written = format!("{:#}\n", schema.to_json());
        assert!(
            shipped == written,
            "js/schemas/{schema}.json is not the schema: `callgate schema --write js/schemas`"
        );
    }
}
