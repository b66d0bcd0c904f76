//! The results of scenarios, for a person.

use std::fmt::Write as _;

use callgate_analysis::scenarios::{Outcome, ScenarioFile};
use callgate_analysis::{CoverageReport, Place, Unreached};

use crate::terminal::tree;
use crate::terminal::{BOLD, DIM, Failure, GREEN, RED, YELLOW, clean, counted, paint, style_of, wrapped};

/// Characters of a title that the table shows.
const MOST: usize = 44;

/// Verdicts about regions that no scenario reaches, of which a line is written.
const LISTED: usize = 12;

/// Verdicts that regions of one tool may have, one after the other.
const MOST_VERDICTS: usize = 64;

pub(super) fn of(
    files: &[ScenarioFile],
    outcomes: &[Outcome<'_>],
    coverage: Option<&CoverageReport>,
    is_verbose: bool,
) -> Result<String, Failure> {
    let mut text = String::new();
    let mut rest = outcomes;
    for file in files {
        let Some((of_file, others)) = rest.split_at_checked(file.cases.len()) else {
            break;
        };
        rest = others;
        let _ = writeln!(text, "{}", paint(BOLD, &clean(&file.name)));
        of_file.iter().for_each(|outcome| row(&mut text, outcome));
    }
    let failed: Vec<&Outcome<'_>> = outcomes.iter().filter(|outcome| !outcome.has_passed()).collect();
    for outcome in &failed {
        text.push('\n');
        text.push_str(&failure(outcome, is_verbose)?);
    }
    let count = outcomes.len();
    let sum = match failed.len() {
        0 if count == 1 => paint(GREEN, "the scenario passes"),
        0 => paint(GREEN, &format!("all {count} scenarios pass")),
        1 if count == 1 => paint(RED, "the scenario fails"),
        1 => paint(RED, &format!("1 of {count} scenarios fails")),
        many => paint(RED, &format!("{many} of {count} scenarios fail")),
    };
    text.push('\n');
    if let Some(coverage) = coverage {
        text.push_str(&reached(coverage));
    }
    let _ = writeln!(text, "{sum}");
    Ok(text)
}

fn row(text: &mut String, outcome: &Outcome<'_>) {
    let title: String = outcome.case.title().chars().take(MOST + 1).collect();
    let title = match title.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", title.get(..end).unwrap_or_default()),
        None => title,
    };
    let result = match outcome.has_passed() {
        true => paint(GREEN, "pass"),
        false => paint(RED, "FAIL"),
    };
    let decision = outcome.verdict.decision.as_str();
    let _ = write!(
        text,
        "  {result} {} {:<width$} {} {}",
        paint(DIM, &format!("{:>4}", outcome.case.line())),
        clean(&title),
        paint(style_of(decision), &format!("{decision:<8}")),
        paint(DIM, &clean(&outcome.verdict.rule)),
        width = MOST + 1,
    );
    if !outcome.has_passed() {
        let _ = write!(
            text,
            " {}",
            paint(RED, &format!("expected {}", clean(&outcome.expected())))
        );
    }
    text.push('\n');
}

/// The expected verdict, the one that was found, and how that came about.
fn failure(outcome: &Outcome<'_>, is_verbose: bool) -> Result<String, Failure> {
    let place = format!("{}:{}", outcome.file, outcome.case.line());
    let mut text = format!(
        "{} {}\n",
        paint(BOLD, &clean(&place)),
        clean(&outcome.case.title())
    );
    let _ = writeln!(text, "  expected {}", clean(&outcome.expected()));
    let _ = writeln!(text, "  found    {}", clean(&outcome.found()));
    if let Some(explanation) = &outcome.explanation {
        text.push_str(&tree(explanation, outcome.help.as_deref(), is_verbose)?);
    }
    Ok(text)
}

fn reached(coverage: &CoverageReport) -> String {
    let shares = [
        ("rules", coverage.rules_covered()),
        ("regions", coverage.regions_covered()),
    ];
    let shares = shares.map(|(what, (reached, all))| {
        let style = if reached == all { GREEN } else { YELLOW };
        paint(style, &format!("{reached} of {all} {what}"))
    });
    let mut text = format!("reached: {}\n", shares.join(", "));
    for rule in &coverage.rules {
        let name = clean(&rule.rule);
        if rule.scenarios == 0 && rule.decides {
            let _ = writeln!(text, "  no scenario is decided by the rule `{name}`");
        } else if rule.scenarios == 0 {
            // Another rule may decide the same of every such call, and be the one that is named.
            let _ = writeln!(
                text,
                "  no verdict names the rule `{name}`; if it has no effect, `callgate lint` says so"
            );
        }
    }
    // Those of one tool with one verdict are many, and of one kind.
    let mut alike: Vec<(&Unreached, usize)> = Vec::new();
    for one in &coverage.unreached {
        let is_alike = |(known, _): &&mut (&Unreached, usize)| {
            let verdict = |one: &Unreached| (one.decision, one.rule.clone());
            (&known.server_name, &known.tool_name) == (&one.server_name, &one.tool_name)
                && verdict(known) == verdict(one)
        };
        match alike.iter_mut().rev().take(MOST_VERDICTS).find(is_alike) {
            Some((_, count)) => *count += 1,
            None => alike.push((one, 1)),
        }
    }
    for (one, count) in alike.iter().take(LISTED) {
        let decision = paint(style_of(one.decision), &format!("{:<8}", one.decision));
        let others = match count {
            1 => String::new(),
            many => format!(", and {}", counted(many - 1, "other region", "other regions")),
        };
        let line = format!("{}: {}{others}", one.rule, title(one));
        let _ = writeln!(text, "  {decision} {}", wrapped(&clean(&line), 11, "           "));
    }
    let more = alike.iter().skip(LISTED).map(|(_, count)| count).sum::<usize>();
    if more > 0 {
        let _ = writeln!(text, "  and {}", counted(more, "more region", "more regions"));
    }
    if !coverage.unreached.is_empty() {
        let help = "--write-missing FILE writes a scenario for each, to be reviewed";
        let _ = writeln!(text, "  {} {help}", paint(DIM, "help:"));
    }
    if coverage.outside > 0 {
        let scenarios = match coverage.outside {
            1 => "1 scenario lies".to_owned(),
            many => format!("{many} scenarios lie"),
        };
        let note = format!("{scenarios} in no region that is told apart");
        let _ = writeln!(text, "  {} {note}", paint(DIM, "note:"));
    }
    if coverage.inexact > 0 {
        let note = format!(
            "of {} tools there may be more: `callgate map` says why",
            coverage.inexact
        );
        let _ = writeln!(text, "  {} {note}", paint(DIM, "note:"));
    }
    text
}

/// The calls in the words of a map: those of the first of the regions.
pub(super) fn title(one: &Unreached) -> String {
    let described = |places: &[Place]| {
        let each = places.iter().map(|place| match place.roles.is_empty() {
            true => format!("{}: {}", place.argument, place.is),
            false => format!("{} ({}): {}", place.argument, place.roles.join(", "), place.is),
        });
        each.collect::<Vec<_>>().join("; ")
    };
    let mut title = format!("{}/{}", one.server_name, one.tool_name);
    if !one.places.is_empty() {
        let _ = write!(title, ", {}", described(&one.places));
    }
    if !one.when.is_empty() {
        let _ = write!(title, "; where {}", described(&one.when));
    }
    title
}
