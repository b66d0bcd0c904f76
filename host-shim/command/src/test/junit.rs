//! The results as JUnit XML, which CI systems show beside a change.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_analysis::scenarios::{Outcome, ScenarioFile};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::terminal::tree;
use crate::terminal::{Failure, clean};

/// The file of the results.
pub(super) struct Report {
    path: PathBuf,
    file: fs::File,
}

/// Opens the file before anything is judged, so that results of another run are not taken for those of this one.
pub(super) fn create(path: &Path) -> Result<Report, Failure> {
    let path = path.to_owned();
    match fs::File::create(&path) {
        Ok(file) => Ok(Report { path, file }),
        Err(error) => Err(unwritable(&path, &error)),
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::Fault(format!("cannot write `{}`: {error}", path.display()))
}

impl Report {
    pub(super) fn write(self, files: &[ScenarioFile], outcomes: &[Outcome<'_>]) -> Result<(), Failure> {
        let mut texts = Vec::new();
        for outcome in outcomes {
            texts.push(match &outcome.explanation {
                Some(explanation) => unstyled(&tree(explanation, outcome.help.as_deref(), false)?),
                None => String::new(),
            });
        }
        let judged: Vec<(&Outcome<'_>, &str)> =
            outcomes.iter().zip(texts.iter().map(String::as_str)).collect();
        let mut writer = Writer::new_with_indent(io::BufWriter::new(self.file), b' ', 2);
        let written = suites(&mut writer, files, &judged)
            .and_then(|()| io::Write::write_all(writer.get_mut(), b"\n"))
            .and_then(|()| io::Write::flush(writer.get_mut()));
        written.map_err(|error| unwritable(&self.path, &error))
    }
}

type Xml = Writer<io::BufWriter<fs::File>>;

fn suites(writer: &mut Xml, files: &[ScenarioFile], judged: &[(&Outcome<'_>, &str)]) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let element = writer
        .create_element("testsuites")
        .with_attribute(("name", "callgate"));
    let counts = counts(judged);
    // The schema has no `skipped` here.
    let counts = counts.iter().filter(|(key, _)| *key != "skipped");
    let counts = counts.map(|(key, value)| (*key, value.as_str()));
    element.with_attributes(counts).write_inner_content(|writer| {
        let mut rest = judged;
        for file in files {
            let Some((own, others)) = rest.split_at_checked(file.cases.len()) else {
                break;
            };
            rest = others;
            of_file(writer, &file.name, own)?;
        }
        Ok(())
    })?;
    Ok(())
}

fn of_file(writer: &mut Xml, file: &str, judged: &[(&Outcome<'_>, &str)]) -> io::Result<()> {
    let file = line(file);
    let counts = counts(judged);
    let counts = counts.iter().map(|(key, value)| (*key, value.as_str()));
    let element = writer
        .create_element("testsuite")
        .with_attribute(("name", &*file));
    element.with_attributes(counts).write_inner_content(|writer| {
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for (outcome, text) in judged {
            let at = outcome.case.line().to_string();
            let mut name = line(&outcome.case.title());
            let times = names.entry(name.clone()).or_default();
            *times += 1;
            // Reports are compared by name from one run to the next.
            if *times > 1 {
                name.push_str(&format!(" ({times})"));
            }
            let element = writer.create_element("testcase").with_attributes([
                ("classname", &*file),
                ("name", &*name),
                ("file", &*file),
                ("line", &*at),
                ("time", &*seconds(Duration::from_nanos(outcome.nanoseconds))),
            ]);
            if outcome.has_passed() {
                element.write_empty()?;
                continue;
            }
            let message = format!("expected {}, found {}", outcome.expected(), outcome.found());
            element.write_inner_content(|writer| {
                let failure = writer.create_element("failure");
                let failure = failure.with_attributes([("message", &*line(&message)), ("type", "verdict")]);
                failure.write_text_content(BytesText::new(text))?;
                Ok(())
            })?;
        }
        Ok(())
    })?;
    Ok(())
}

fn counts(judged: &[(&Outcome<'_>, &str)]) -> [(&'static str, String); 5] {
    let failures = judged.iter().filter(|(outcome, _)| !outcome.has_passed()).count();
    let took = judged
        .iter()
        .map(|(outcome, _)| Duration::from_nanos(outcome.nanoseconds))
        .sum();
    [
        ("tests", judged.len().to_string()),
        ("failures", failures.to_string()),
        ("errors", "0".to_owned()),
        ("skipped", "0".to_owned()),
        ("time", seconds(took)),
    ]
}

/// Seconds with the three places that the schema has.
fn seconds(took: Duration) -> String {
    format!("{:.3}", took.as_secs_f64())
}

/// The text without styles.
fn unstyled(text: &str) -> String {
    let text = anstream::adapter::strip_str(text).to_string();
    text.replace(NO_CHARACTERS, "\u{fffd}")
}

/// One line of text: what XML cannot hold is made visible.
fn line(text: &str) -> String {
    clean(text).replace(NO_CHARACTERS, "\u{fffd}")
}

/// XML has no other characters of this kind: <https://www.w3.org/TR/xml/#charsets>.
const NO_CHARACTERS: [char; 2] = ['\u{fffe}', '\u{ffff}'];
