//! The table of programs keeps to its schema.

use std::fs;
use std::path::Path;

use schemas::Validator;

#[test]
fn each_file_of_the_table_keeps_to_the_schema() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core/programs");
    let read = |file: &Path| serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let schema = Validator::new(read(&folder.join("programs.schema.json")));
    let files = fs::read_dir(folder.join("table")).unwrap();
    let files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 6);
    for file in files {
        assert_eq!(schema.fault(&read(&file)), None, "{}", file.display());
    }
    for wrong in [
        r#"{"programs": [{"names": ["a"], "falgs": "-a"}]}"#,
        r#"{"programs": [{"names": ["a"], "values": {"-a": "path"}}]}"#,
    ] {
        assert!(schema.fault(&serde_json::from_str(wrong).unwrap()).is_some());
    }
}
