//! Figures of the service in Prometheus' text format: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use callgate_guard::Tally;

/// The ends of the classes of durations, in microseconds.
const CLASSES: [u64; 12] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 1_000_000,
];

/// What became of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It goes on as it came.
    Passed,
    /// It goes on otherwise than it came.
    Rewritten,
    /// It was answered in the server's place: a denial, or an error.
    Answered,
}

/// What became of access requests, as far as the service hears of it: a person answers elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessRequest {
    /// A person is asked.
    Requested,
    /// Nobody is.
    Refused,
    /// An approval let a call pass.
    Approved,
    /// An approval was shown that does not hold, or not yet.
    Unapproved,
}

/// The doors of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    ExtProc,
    ExtAuthz,
    ExtMcp,
    AuthZen,
    ToolHive,
}

impl Door {
    const ALL: [Self; 5] = [
        Self::ExtProc,
        Self::ExtAuthz,
        Self::ExtMcp,
        Self::AuthZen,
        Self::ToolHive,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::ExtProc => "ext_proc",
            Self::ExtAuthz => "ext_authz",
            Self::ExtMcp => "ext_mcp",
            Self::AuthZen => "authzen",
            Self::ToolHive => "toolhive",
        }
    }
}

impl Outcome {
    const ALL: [(Self, &str); 3] = [
        (Self::Passed, "passed"),
        (Self::Rewritten, "rewritten"),
        (Self::Answered, "answered"),
    ];
}

impl AccessRequest {
    const ALL: [(Self, &str); 4] = [
        (Self::Requested, "requested"),
        (Self::Refused, "refused"),
        (Self::Approved, "approved"),
        (Self::Unapproved, "unapproved"),
    ];
}

/// Counters.
#[derive(Default)]
pub(crate) struct Metrics {
    doors: [OfDoor; Door::ALL.len()],
    access_requests: [AtomicU64; AccessRequest::ALL.len()],
    refused: AtomicU64,
}

#[derive(Default)]
struct OfDoor {
    outcomes: [AtomicU64; Outcome::ALL.len()],
    classes: [AtomicU64; CLASSES.len()],
    longer: AtomicU64,
    micros: AtomicU64,
}

impl Metrics {
    /// A message was decided about in so much time.
    pub(crate) fn decided(&self, door: Door, outcome: Outcome, took: Duration) {
        let Some(of_door) = self.doors.get(door as usize) else {
            return;
        };
        if let Some(count) = of_door.outcomes.get(outcome as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        of_door.micros.fetch_add(micros, Ordering::Relaxed);
        let mut classes = CLASSES.iter().zip(&of_door.classes);
        let class = classes.find(|(end, _)| micros <= **end);
        class
            .map_or(&of_door.longer, |(_, count)| count)
            .fetch_add(1, Ordering::Relaxed);
    }

    /// An access request was made, or its approval shown.
    pub(crate) fn access_request(&self, outcome: AccessRequest) {
        if let Some(count) = self.access_requests.get(outcome as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A request had no token, or a wrong one.
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// The page.
    pub(crate) fn page(&self, tallies: &[(String, Tally)]) -> String {
        let mut page = String::new();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // Writing to a string does not fail.
        let mut line = |text: std::fmt::Arguments<'_>| {
            let _ = page.write_fmt(format_args!("{text}\n"));
        };
        line(format_args!(
            "# HELP callgate_decisions_total Calls that were judged."
        ));
        line(format_args!("# TYPE callgate_decisions_total counter"));
        for (server, tally) in tallies {
            let server = escaped(server);
            let counts = [
                ("allow", tally.allow),
                ("escalate", tally.escalate),
                ("deny", tally.deny),
            ];
            for (decision, count) in counts {
                line(format_args!(
                    "callgate_decisions_total{{server=\"{server}\",decision=\"{decision}\"}} {count}"
                ));
            }
        }
        line(format_args!(
            "# HELP callgate_messages_total What became of messages."
        ));
        line(format_args!("# TYPE callgate_messages_total counter"));
        for (door, of_door) in Door::ALL.iter().zip(&self.doors) {
            for ((_, outcome), count) in Outcome::ALL.iter().zip(&of_door.outcomes) {
                line(format_args!(
                    "callgate_messages_total{{door=\"{}\",outcome=\"{outcome}\"}} {}",
                    door.name(),
                    read(count)
                ));
            }
        }
        line(format_args!(
            "# HELP callgate_decision_seconds The time from a message to what becomes of it."
        ));
        line(format_args!("# TYPE callgate_decision_seconds histogram"));
        for (door, of_door) in Door::ALL.iter().zip(&self.doors) {
            let door = door.name();
            let mut sum = 0;
            for (end, count) in CLASSES.iter().zip(&of_door.classes) {
                sum += read(count);
                line(format_args!(
                    "callgate_decision_seconds_bucket{{door=\"{door}\",le=\"{}\"}} {sum}",
                    seconds(*end)
                ));
            }
            sum += read(&of_door.longer);
            line(format_args!(
                "callgate_decision_seconds_bucket{{door=\"{door}\",le=\"+Inf\"}} {sum}"
            ));
            line(format_args!(
                "callgate_decision_seconds_sum{{door=\"{door}\"}} {}",
                seconds(read(&of_door.micros))
            ));
            line(format_args!(
                "callgate_decision_seconds_count{{door=\"{door}\"}} {sum}"
            ));
        }
        line(format_args!(
            "# HELP callgate_access_requests_total What became of access requests, and of approvals that were shown."
        ));
        line(format_args!("# TYPE callgate_access_requests_total counter"));
        for ((_, outcome), count) in AccessRequest::ALL.iter().zip(&self.access_requests) {
            line(format_args!(
                "callgate_access_requests_total{{outcome=\"{outcome}\"}} {}",
                read(count)
            ));
        }
        line(format_args!(
            "# HELP callgate_unauthorized_total Requests without a token that is known."
        ));
        line(format_args!("# TYPE callgate_unauthorized_total counter"));
        line(format_args!(
            "callgate_unauthorized_total {}",
            read(&self.refused)
        ));
        page
    }
}

fn seconds(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64()
}

fn escaped(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_figure() {
        let metrics = Metrics::default();
        metrics.decided(Door::ExtProc, Outcome::Rewritten, Duration::from_micros(60));
        metrics.decided(Door::ExtProc, Outcome::Passed, Duration::from_secs(2));
        metrics.refused();
        metrics.access_request(AccessRequest::Approved);
        let tally = Tally {
            allow: 3,
            escalate: 0,
            deny: 1,
        };
        let page = metrics.page(&[("a\"b".to_owned(), tally)]);
        for line in [
            r#"callgate_decisions_total{server="a\"b",decision="allow"} 3"#,
            r#"callgate_messages_total{door="ext_proc",outcome="rewritten"} 1"#,
            r#"callgate_decision_seconds_bucket{door="ext_proc",le="0.00005"} 0"#,
            r#"callgate_decision_seconds_bucket{door="ext_proc",le="0.0001"} 1"#,
            r#"callgate_decision_seconds_bucket{door="ext_proc",le="+Inf"} 2"#,
            r#"callgate_decision_seconds_sum{door="ext_proc"} 2.00006"#,
            r#"callgate_access_requests_total{outcome="approved"} 1"#,
            r#"callgate_access_requests_total{outcome="unapproved"} 0"#,
            "callgate_unauthorized_total 1",
        ] {
            assert!(page.lines().any(|known| known == line), "{line}\n{page}");
        }
    }
}
