//! The policies that both can say, and what is asked about them.

/// The part of a policy that one rule is about: calls that read, write, fetch or push.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// From this host.
    Fetch(String),
    /// From this host, and from those below it.
    FetchBelow(String),
    /// This directory, and what is in it.
    Read(String),
    /// This directory, and what is in it.
    Write(String),
    /// To this branch.
    Push(String),
}

impl What {
    /// The name of the tool.
    pub(crate) fn tool(&self) -> &'static str {
        match self {
            Self::Fetch(_) | Self::FetchBelow(_) => "fetch",
            Self::Read(_) => "read",
            Self::Write(_) => "write",
            Self::Push(_) => "push",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(crate) is_grant: bool,
    pub(crate) what: What,
}

pub(crate) type Policy = Vec<Rule>;

/// One call.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) tool: String,
    /// Its host, path or branch.
    pub(crate) value: String,
}

/// A question about policies.
pub(crate) enum Question {
    /// The two allow the same calls.
    Equal(Policy, Policy),
    /// The second allows nothing that the first does not.
    NotLooser(Policy, Policy),
    /// No call of this kind is allowed.
    Never(Policy, What),
    /// Without any of its rules, the policy would be another one.
    AllDecide(Policy),
}

/// The call or the rules that show why the answer is no.
#[derive(Debug)]
pub(crate) enum Shown {
    Call(Example),
    /// The rules, by their places in the policy.
    Rules(Vec<usize>),
}

/// `None` is yes.
pub(crate) type Answer = Option<Shown>;

/// A question that is asked of a policy of any size, and its right answer.
pub(crate) struct Asked {
    pub(crate) name: &'static str,
    pub(crate) question: fn(usize) -> Question,
    pub(crate) is_so: bool,
    /// The answer where paths, hosts and branches are entities. It holds for every tree of them, also for those that no disk has:
    /// `/etc` may be within `/srv`, and `/srv/1/data/drafts` outside of `/srv/1/data`.
    pub(crate) is_so_of_entities: bool,
}

/// The directory of a rule that every policy here has.
const FIRST: &str = "/srv/1/data";

pub(crate) const ALL: [Asked; 9] = [
    Asked {
        name: "equal, in another order?",
        question: |count| Question::Equal(policy(count), policy(count).into_iter().rev().collect()),
        is_so: true,
        is_so_of_entities: true,
    },
    Asked {
        name: "equal, where one rule differs?",
        question: |count| Question::Equal(policy(count), changed(count, "/srv/other")),
        is_so: false,
        is_so_of_entities: false,
    },
    Asked {
        name: "not looser, where one rule is narrower?",
        question: |count| Question::NotLooser(policy(count), changed(count, "/srv/1/data/drafts")),
        is_so: true,
        is_so_of_entities: false,
    },
    Asked {
        name: "not looser, where one restriction is gone?",
        question: |count| {
            let restricts = |rule: &Rule| !rule.is_grant;
            let mut new = policy(count);
            new.iter().position(restricts).map(|at| new.remove(at));
            Question::NotLooser(policy(count), new)
        },
        is_so: false,
        is_so_of_entities: false,
    },
    Asked {
        name: "never read /etc?",
        question: |count| Question::Never(policy(count), read("/etc")),
        is_so: true,
        is_so_of_entities: false,
    },
    Asked {
        name: "never read a secret?",
        question: |count| Question::Never(policy(count), read("/srv/1/data/secret")),
        is_so: true,
        is_so_of_entities: true,
    },
    Asked {
        name: "never read /srv/1/data?",
        question: |count| Question::Never(policy(count), read(FIRST)),
        is_so: false,
        is_so_of_entities: false,
    },
    Asked {
        name: "the same without one rule, which another covers?",
        question: |count| Question::Equal(covered(count), policy(count - 1)),
        is_so: true,
        is_so_of_entities: false,
    },
    Asked {
        name: "does each rule decide something?",
        question: |count| Question::AllDecide(covered(count)),
        is_so: false,
        is_so_of_entities: true,
    },
];

fn read(directory: &str) -> What {
    What::Read(directory.to_owned())
}

/// So many rules of an agent: where it may read, write, fetch and push, and what it must not read there.
pub(crate) fn policy(count: usize) -> Policy {
    (0..count)
        .map(|at| Rule {
            is_grant: at % 6 != 5,
            what: match at % 6 {
                0 => What::Fetch(format!("h{at}.example.com")),
                1 => What::Read(format!("/srv/{at}/data")),
                2 => What::Write(format!("/srv/{at}/out")),
                3 => What::Push(format!("feature-{at}")),
                4 => What::FetchBelow(format!("d{at}.example.com")),
                _ => What::Read(format!("/srv/{}/data/secret", at - 4)),
            },
        })
        .collect()
}

/// The policy whose rule for the first directory is about another one.
fn changed(count: usize, directory: &str) -> Policy {
    let mut policy = policy(count);
    for rule in &mut policy {
        if rule.what == read(FIRST) {
            rule.what = read(directory);
        }
    }
    policy
}

/// A policy of so many rules, the last of which decides nothing.
fn covered(count: usize) -> Policy {
    let mut policy = policy(count - 1);
    policy.push(Rule {
        is_grant: true,
        what: read("/srv/1/data/drafts"),
    });
    policy
}
