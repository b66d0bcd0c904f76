//! The calls for verdicts that no scenario reaches have these verdicts, and together reach all.

use proptest::prelude::*;

use super::arbitrary::{self, Documents};
use super::calls::{self, Random, TOOLS};
use super::division::{config, shown};
use crate::analysis::{Analysis, Bounds, Coverage};
use crate::bind::Call;
use crate::engine::Imagined;

fn hold(documents: &Documents, seed: u64) -> Result<(), String> {
    let Some(engine) = arbitrary::engine(documents) else {
        return Ok(());
    };
    let bounds = Bounds {
        calls: 3_000,
        ..Bounds::default()
    };
    let analysis = Analysis::new(&engine).within(bounds);
    let imagined = Imagined::new(&engine, None);
    let judged = |server: &str, tool: &str, arguments: &serde_json::Value| {
        let call = Call::from_value(server, tool, arguments);
        let verdict = imagined.judge(&call);
        (verdict.decision.as_str(), verdict.rule.to_string())
    };
    let mut coverage = Coverage::new(&analysis);
    let mut random = Random(seed | 1);
    for (at, (server, tool, _)) in TOOLS.iter().enumerate() {
        for _ in 0..4 {
            let (decision, rule) = judged(server, tool, &calls::arguments(at, &mut random));
            coverage.add(server, tool, decision, &rule);
        }
    }
    let first = coverage.report();
    for one in &first.unreached {
        let (decision, rule) = judged(&one.server_name, &one.tool_name, &one.arguments);
        if (decision, &*rule) != (one.decision, &*one.rule) {
            return Err(format!("{one:?} is decided otherwise: {decision} by {rule}"));
        }
        coverage.add(&one.server_name, &one.tool_name, decision, &rule);
    }
    let second = coverage.report();
    let (rules, all) = second.rules_covered();
    match second.unreached.is_empty() && second.regions == first.regions && rules == all {
        true => Ok(()),
        false => Err(format!("{:?} is still not reached", second.unreached)),
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn missing_calls_have_the_verdicts_that_are_missing(documents in arbitrary::documents(), seed in any::<u64>()) {
        if let Err(why) = hold(&documents, seed) {
            return Err(TestCaseError::fail(format!("{why}\n{}", shown(&documents))));
        }
    }
}
