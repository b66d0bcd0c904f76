//! From the text of a file to the text of each of its scenarios.

use serde::Deserialize as _;
use serde::de::IgnoredAny;

use super::read::{Usual, read_context, read_scenario, read_world};
use super::{Scenario, ScenarioPart, outer};
use callgate_engine::diagnostic::{Code, Diagnostic, Position};
use callgate_engine::document::{
    DocumentSource, Member, Node, Report, items, keys, load, locate, members, unknown_key, without_comments,
};
use callgate_engine::limits::Limits;

/// The name of a file in the paths of its faults.
const NAME: &str = "scenarios";

/// Faults that are listed of one file.
const LISTED: usize = 100;

pub(super) fn read(text: &str) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    let mut file = File::default();
    let json = without_comments(text);
    match Form::of(&json) {
        Form::Lines => file.lines(&json),
        Form::Array => file.array(&Piece::whole(text)),
        Form::Object if json.trim().is_empty() => {}
        Form::Object => file.object(text),
    }
    file.finish()
}

/// How the scenarios of a file are written.
enum Form {
    /// One a line.
    Lines,
    /// An array of them.
    Array,
    /// An object that holds them, or one scenario. What is not JSON is taken for this too, for its error.
    Object,
}

impl Form {
    fn of(json: &str) -> Self {
        if json.trim_start().starts_with('[') {
            return Self::Array;
        }
        let mut values = serde_json::Deserializer::from_str(json).into_iter::<IgnoredAny>();
        let is_whole = match values.next() {
            Some(Ok(_)) => values.next().is_none(),
            // A mistake in one of several lines, or in a document of several lines.
            Some(Err(_)) => {
                let lines = json.split('\n').filter(|line| !line.trim().is_empty());
                let whole = lines.clone().filter(|line| is_object(line)).count();
                whole * 2 < lines.count() || whole == 0
            }
            None => true,
        };
        match is_whole {
            true => Self::Object,
            false => Self::Lines,
        }
    }
}

fn is_object(line: &str) -> bool {
    let mut reader = serde_json::Deserializer::from_str(line);
    line.trim_start().starts_with('{') && IgnoredAny::deserialize(&mut reader).is_ok() && reader.end().is_ok()
}

/// Part of a file's text.
struct Piece<'t> {
    text: &'t str,
    at: Position,
}

impl<'t> Piece<'t> {
    fn whole(text: &'t str) -> Self {
        let at = Position::START;
        Self { text, at }
    }

    /// The position in the file of what has this position in the piece.
    fn outer(&self, inner: Position) -> Position {
        outer(self.at, inner)
    }
}

#[derive(Default)]
struct File {
    scenarios: Vec<Scenario>,
    /// Scenarios that began, those with faults too.
    count: usize,
    usual: Usual,
    faults: Vec<Diagnostic>,
    unlisted: usize,
}

impl File {
    fn fault(&mut self, fault: Diagnostic) {
        if self.faults.len() < LISTED {
            self.faults.push(fault);
        } else {
            self.unlisted += 1;
        }
    }

    fn finish(mut self) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
        if self.faults.is_empty() && self.scenarios.is_empty() {
            let message = "found no scenario, expected at least one";
            self.fault(Diagnostic::error(Code::MissingField, NAME, message));
        }
        if self.unlisted > 0 {
            let count = LISTED + self.unlisted;
            let message = format!(
                "`{count}` errors in this file, expected none: {} more are not listed",
                self.unlisted
            );
            self.faults.push(Diagnostic::error(Code::Limit, NAME, message));
        }
        match self.faults.is_empty() {
            true => Ok(self.scenarios),
            false => Err(self.faults),
        }
    }

    fn lines(&mut self, json: &str) {
        for (at, text) in json.split('\n').enumerate() {
            if !text.trim().is_empty() {
                let at = Position {
                    line: at + 1,
                    column: 1,
                };
                let before = self.faults.len();
                self.scenario(&Piece { text, at }, NAME);
                let is_item = text.trim_end().ends_with(',');
                for fault in self.faults.get_mut(before..).unwrap_or_default() {
                    if is_item && fault.code == Code::Syntax {
                        fault.help = Some(
                            "lines have no comma between them; an array stands in `[` and `]`".to_owned(),
                        );
                    }
                }
            }
        }
    }

    /// The items of an array, which is the file, or stands in it.
    fn array(&mut self, piece: &Piece<'_>) {
        match items(piece.text, NAME) {
            Ok(items) => {
                for item in items {
                    let at = piece.outer(item.at);
                    self.scenario(&Piece { text: item.value, at }, NAME);
                }
            }
            Err(fault) => self.fault(fault),
        }
    }

    fn object(&mut self, text: &str) {
        let members = match members(text, NAME) {
            Ok(Some(members)) if members.iter().any(|member| member.key == NAME) => members,
            Ok(_) => return self.scenario(&Piece::whole(text), NAME),
            Err(fault) => return self.fault(fault),
        };
        let mut listed = None;
        for (at, member) in members.iter().enumerate() {
            let place = |key: &str| format!("{NAME}.{key}");
            let is_repeated = members.iter().take(at).any(|one| one.key == member.key);
            let fault = match &*member.key {
                key if is_repeated => {
                    let message = format!("the key `{key}` is given twice, expected once");
                    let fault = Diagnostic::error(Code::DuplicateKey, place(key), message);
                    standing(fault, member.key_at)
                }
                "world" => {
                    self.usual.world = self.part(member, read_world);
                    continue;
                }
                "context" => {
                    self.usual.context = self.part(member, read_context);
                    continue;
                }
                NAME if member.value.starts_with('[') => {
                    listed = Some(member);
                    continue;
                }
                NAME => wrong(member, "an array of scenarios"),
                "$schema" if member.value.starts_with('"') => continue,
                "$schema" => wrong(member, "a string"),
                key if keys::SCENARIOS.contains(&key) && member.value.starts_with('"') => continue,
                key if keys::SCENARIOS.contains(&key) => wrong(member, "a string"),
                key => standing(unknown_key(place(key), key, keys::SCENARIOS), member.key_at),
            };
            self.fault(fault);
        }
        if let Some(member) = listed {
            let (text, at) = (member.value, member.value_at);
            self.array(&Piece { text, at });
        }
    }

    /// The part that applies to every scenario that does not say otherwise.
    fn part(
        &mut self,
        member: &Member<'_>,
        read: fn(&Node<'_, '_>) -> Option<ScenarioPart>,
    ) -> Option<ScenarioPart> {
        let (text, at) = (member.value, member.value_at);
        let name = format!("{NAME}.{}", member.key);
        let mut found = self.load(&Piece { text, at }, &name, read)??;
        // Only a whole document may name its schema.
        let inner = members(text, &name).ok().flatten().unwrap_or_default();
        if let Some(schema) = inner.iter().find(|inner| inner.key == "$schema") {
            let message = "found the key `$schema`, expected it at the top of the file";
            let fault = Diagnostic::error(Code::UnknownKey, format!("{name}[\"$schema\"]"), message);
            self.fault(standing(fault, outer(at, schema.key_at)));
            return None;
        }
        put(&mut found, member, at);
        Some(found)
    }

    fn scenario(&mut self, piece: &Piece<'_>, of: &str) {
        let name = format!("{of}[{}]", self.count);
        self.count += 1;
        let Some(Some(mut scenario)) = self.load(piece, &name, read_scenario) else {
            return;
        };
        let written = members(piece.text, &name).ok().flatten().unwrap_or_default();
        for part in scenario.parts_mut() {
            let own = written
                .iter()
                .find(|member| part.path == format!("{name}.{}", member.key));
            if let Some(member) = own {
                put(part, member, piece.outer(member.value_at));
            }
        }
        scenario.fill(&self.usual);
        self.scenarios.push(scenario);
    }

    /// Reads one piece strictly; `None` if it has a fault.
    fn load<T>(&mut self, piece: &Piece<'_>, name: &str, read: fn(&Node<'_, '_>) -> T) -> Option<T> {
        let report = Report::default();
        let (found, faults) = match load(DocumentSource::Text(piece.text), name, &Limits::default(), |_| {
            false
        }) {
            Ok(value) => {
                let found = read(&Node::document(&value, name, &report));
                let mut faults = report.finish(name);
                locate(&mut faults, name, piece.text);
                (Some(found), faults)
            }
            Err(faults) => (None, faults),
        };
        let is_sound = faults.is_empty();
        for mut fault in faults {
            fault.position = Some(fault.position.map_or(piece.at, |inner| piece.outer(inner)));
            self.fault(fault);
        }
        found.filter(|_| is_sound)
    }
}

/// Takes the part's text as it is written, so that numbers stay what they are and places can be told.
fn put(part: &mut ScenarioPart, member: &Member<'_>, at: Position) {
    if !member.value.starts_with('"') {
        part.text = without_comments(member.value).into_owned();
    }
    part.position = at;
}

fn wrong(member: &Member<'_>, expected: &str) -> Diagnostic {
    let shown: String = member.value.chars().take(60).collect();
    let more = if shown.len() < member.value.len() {
        "…"
    } else {
        ""
    };
    let message = format!("found `{shown}{more}`, expected {expected}");
    let path = format!("{NAME}.{}", member.key);
    standing(Diagnostic::error(Code::WrongType, path, message), member.value_at)
}

fn standing(mut fault: Diagnostic, at: Position) -> Diagnostic {
    fault.position = Some(at);
    fault
}
