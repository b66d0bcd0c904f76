//! Cedar's analysis, which asks a solver.

use std::str::FromStr as _;
use std::time::{Duration, Instant};

use cedar_policy::{
    Authorizer, Context, Decision, Entities, EntityUid, EvalResult, PolicySet, Request, RequestEnv,
    RestrictedExpression, Schema,
};
use cedar_policy_symcc::solver::LocalSolver;
use cedar_policy_symcc::{CedarSymCompiler, CompiledPolicySet, Env};
use tokio::process::Command;

use crate::policies::{Answer, Example, Policy, Question, Rule, Shown, What};

/// How policies say paths, hosts and branches.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// As texts, with `like` for what is in a directory or below a host.
    Texts,
    /// As entities, whose tree is not part of the policy.
    Entities,
}

const TEXTS: &str = r#"
    entity User;
    entity Thing;
    action fetch appliesTo { principal: [User], resource: [Thing], context: { host: String } };
    action read, write appliesTo { principal: [User], resource: [Thing], context: { path: String } };
    action push appliesTo { principal: [User], resource: [Thing], context: { branch: String } };
"#;

const ENTITIES: &str = r#"
    entity User;
    entity Host in [Host];
    entity Path in [Path];
    entity Branch;
    action fetch appliesTo { principal: [User], resource: [Host], context: {} };
    action read, write appliesTo { principal: [User], resource: [Path], context: {} };
    action push appliesTo { principal: [User], resource: [Branch], context: {} };
"#;

impl Form {
    fn schema(self) -> Schema {
        let text = match self {
            Self::Texts => TEXTS,
            Self::Entities => ENTITIES,
        };
        Schema::from_cedarschema_str(text).expect("a schema").0
    }

    fn policy(self, rules: &Policy) -> PolicySet {
        let text: String = rules.iter().map(|rule| self.rule(rule)).collect();
        PolicySet::from_str(&text).expect("a policy")
    }

    fn rule(self, rule: &Rule) -> String {
        let effect = if rule.is_grant { "permit" } else { "forbid" };
        let action = format!("action == Action::\"{}\"", rule.what.tool());
        match self {
            Self::Texts => {
                let condition = as_text(&rule.what);
                format!("{effect}(principal, {action}, resource) when {{ {condition} }};\n")
            }
            Self::Entities => {
                let resource = as_entity(&rule.what);
                format!("{effect}(principal, {action}, resource {resource});\n")
            }
        }
    }
}

fn as_text(what: &What) -> String {
    match what {
        What::Fetch(host) => format!("context.host == \"{host}\""),
        What::FetchBelow(host) => format!("context.host == \"{host}\" || context.host like \"*.{host}\""),
        What::Read(directory) | What::Write(directory) => {
            format!("context.path == \"{directory}\" || context.path like \"{directory}/*\"")
        }
        What::Push(branch) => format!("context.branch == \"{branch}\""),
    }
}

fn as_entity(what: &What) -> String {
    match what {
        What::Fetch(host) => format!("== Host::\"{host}\""),
        What::FetchBelow(host) => format!("in Host::\"{host}\""),
        What::Read(directory) | What::Write(directory) => format!("in Path::\"{directory}\""),
        What::Push(branch) => format!("== Branch::\"{branch}\""),
    }
}

/// Cedar's compiler, and a solver that runs.
pub(crate) struct Cedar {
    form: Form,
    schema: Schema,
    compiler: CedarSymCompiler<LocalSolver>,
}

impl Cedar {
    pub(crate) fn new(form: Form, most: Duration) -> Self {
        let program = std::env::var("CVC5").unwrap_or_else(|_| "cvc5".to_owned());
        let mut command = Command::new(program);
        // Cedar's own limit is one of the whole process, which answers many questions here.
        command
            .args(["--lang", "smt", &format!("--tlimit-per={}", most.as_millis())])
            .kill_on_drop(true);
        let solver = LocalSolver::from_command(&mut command).expect("a solver: CVC5 names the program");
        Self {
            form,
            schema: form.schema(),
            compiler: CedarSymCompiler::new(solver).expect("a solver"),
        }
    }

    /// The answer, and how long it took until the solver was asked.
    pub(crate) async fn answer(&mut self, question: &Question) -> (Answer, Duration) {
        let begun = Instant::now();
        match question {
            Question::Equal(old, new) | Question::NotLooser(old, new) => {
                let is_one_way = matches!(question, Question::NotLooser(..));
                let pairs = self.compiled(old, new);
                let asked = begun.elapsed();
                for [old, new] in &pairs {
                    let found = match is_one_way {
                        true => {
                            self.compiler
                                .check_implies_with_counterexample_opt(new, old)
                                .await
                        }
                        false => {
                            self.compiler
                                .check_equivalent_with_counterexample_opt(old, new)
                                .await
                        }
                    };
                    if let Some(env) = found.expect("an answer") {
                        return (Some(self.shown(&env)), asked);
                    }
                }
                (None, asked)
            }
            Question::Never(policy, what) => {
                let meant = vec![Rule {
                    is_grant: true,
                    what: what.clone(),
                }];
                let pairs = self.compiled(policy, &meant);
                let asked = begun.elapsed();
                for [policy, meant] in &pairs {
                    let found = self
                        .compiler
                        .check_disjoint_with_counterexample_opt(policy, meant);
                    if let Some(env) = found.await.expect("an answer") {
                        return (Some(self.shown(&env)), asked);
                    }
                }
                (None, asked)
            }
            Question::AllDecide(policy) => self.useless(policy).await,
        }
    }

    /// The rules without which the policy is the same.
    async fn useless(&mut self, rules: &Policy) -> (Answer, Duration) {
        let mut asked = Duration::ZERO;
        let mut useless = Vec::new();
        let policy = self.form.policy(rules);
        for (at, rule) in rules.iter().enumerate() {
            let begun = Instant::now();
            let without: Policy = [&rules[..at], &rules[at + 1..]].concat();
            let without = self.form.policy(&without);
            // Calls of other tools are not what the rule is about.
            let mut envs = self.schema.request_envs();
            let env = envs.find(|env| is_about(env, rule)).expect("an action");
            let [with, without] = self.pair([&policy, &without], &env);
            asked += begun.elapsed();
            let found = self.compiler.check_equivalent_opt(&with, &without).await;
            if found.expect("an answer") {
                useless.push(at);
            }
        }
        let shown = (!useless.is_empty()).then_some(Shown::Rules(useless));
        (shown, asked)
    }

    /// Two policies for each tool.
    fn compiled(&self, one: &Policy, other: &Policy) -> Vec<[CompiledPolicySet; 2]> {
        let [one, other] = [one, other].map(|rules| self.form.policy(rules));
        let envs = self.schema.request_envs();
        envs.map(|env| self.pair([&one, &other], &env)).collect()
    }

    fn pair(&self, sets: [&PolicySet; 2], env: &RequestEnv) -> [CompiledPolicySet; 2] {
        sets.map(|set| CompiledPolicySet::compile(set, env, &self.schema).expect("a policy"))
    }

    fn shown(&self, env: &Env) -> Shown {
        let request = &env.request;
        let action = request.action().expect("an action").id().unescaped();
        let value = match self.form {
            Form::Texts => {
                let context = request.context().expect("a context");
                match context.get(argument(action)) {
                    Some(EvalResult::String(text)) => text,
                    found => panic!("{found:?}"),
                }
            }
            Form::Entities => request.resource().expect("a resource").to_string(),
        };
        Shown::Call(Example {
            tool: action.to_owned(),
            value,
        })
    }
}

fn is_about(env: &RequestEnv, rule: &Rule) -> bool {
    env.action().id().unescaped() == rule.what.tool()
}

/// The name of a tool's only argument.
fn argument(tool: &str) -> &'static str {
    match tool {
        "fetch" => "host",
        "push" => "branch",
        _ => "path",
    }
}

/// Returns `true` if the policy allows the call, in texts.
pub(crate) fn allows(policy: &Policy, example: &Example) -> bool {
    let schema = Form::Texts.schema();
    let [principal, action, resource] = [
        "User::\"u\"".to_owned(),
        format!("Action::\"{}\"", example.tool),
        "Thing::\"t\"".to_owned(),
    ]
    .map(|text| EntityUid::from_str(&text).expect("a name"));
    let value = RestrictedExpression::new_string(example.value.clone());
    let context = Context::from_pairs([(argument(&example.tool).to_owned(), value)]).expect("a context");
    let request = Request::new(principal, action, resource, context, Some(&schema)).expect("a request");
    let response = Authorizer::new().is_authorized(&request, &Form::Texts.policy(policy), &Entities::empty());
    response.decision() == Decision::Allow
}
