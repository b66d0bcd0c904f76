//! The files of scenarios: what each holds, and everything that is wrong with them.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use callgate_analysis::scenarios::{Case, ScenarioFile, read_cases};
use callgate_engine::diagnostic::Diagnostic;
use callgate_engine::document::{MOST_FILE_BYTES, document_text};
use callgate_host::Fault;

use crate::terminal::Failure;

/// # Errors
/// Everything that is wrong with any of the files: nothing is left out.
pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<ScenarioFile>, Failure> {
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in paths {
        let name = match is_standard_input(path) {
            true => "standard input".to_owned(),
            false => path.display().to_string(),
        };
        match read(path)? {
            Ok(cases) => files.push(ScenarioFile { name, cases }),
            Err(found) => faults.extend(found.into_iter().map(|diagnostic| Fault {
                file: Some(name.clone()),
                diagnostic,
            })),
        }
    }
    match faults.is_empty() {
        true => Ok(files),
        false => Err(Failure::Refused(faults)),
    }
}

fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

fn read(path: &Path) -> Result<Result<Vec<Case>, Vec<Diagnostic>>, Failure> {
    let mut bytes = Vec::new();
    let most = MOST_FILE_BYTES as u64 + 1;
    let read = match is_standard_input(path) {
        true => std::io::stdin().lock().take(most).read_to_end(&mut bytes),
        false => std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    if let Err(error) = read {
        return Err(Failure::Helped {
            message: format!("cannot read `{}`: {error}", path.display()),
            help: "expected a file of scenarios".to_owned(),
        });
    }
    let text = document_text(bytes, "scenarios").map_err(|fault| vec![fault]);
    Ok(text.and_then(|text| read_cases(&text)))
}
