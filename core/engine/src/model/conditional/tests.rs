//! Conditions, as JavaScript compares.

use super::*;

#[test]
fn tests_hold_as_in_javascript() {
    let text = |text: &str| Scalar::Text(text.into());
    let given = [
        ConditionValue::Absent,
        ConditionValue::Null,
        ConditionValue::Bool(false),
        ConditionValue::Bool(true),
        ConditionValue::Number(0.0),
        ConditionValue::Number(-0.0),
        ConditionValue::Number(2.5),
        ConditionValue::Number(f64::NAN),
        ConditionValue::Text(""),
        ConditionValue::Text("0"),
        ConditionValue::Compound,
    ];
    // One digit for each of `given`.
    for (test, expected) in [
        (Test::Present, "00111111111"),
        (Test::Absent, "11000000000"),
        (Test::Truthy, "00010010011"),
        (Test::Falsy, "11101101100"),
        (Test::Equals(Scalar::Null), "01000000000"),
        (Test::Equals(Scalar::Bool(true)), "00010000000"),
        (Test::Equals(Scalar::Number(0.0)), "00001100000"),
        (Test::Equals(text("0")), "00000000010"),
        (Test::In(Scalars::new(vec![])), "00000000000"),
        (
            Test::In(Scalars::new(vec![text(""), Scalar::Number(2.5)])),
            "00000010100",
        ),
    ] {
        let found: String = given
            .iter()
            .map(|given| if test.holds(*given) { '1' } else { '0' })
            .collect();
        assert_eq!(found, expected, "{test:?}");
    }
}

#[test]
fn a_restriction_holds_for_what_servers_convert_and_a_grant_does_not() {
    let text = |text: &str| Scalar::Text(text.into());
    let large = Scalar::Number(9_007_199_254_740_992.0);
    for (test, given, surely, may) in [
        (
            Test::Equals(Scalar::Bool(true)),
            ConditionValue::Bool(true),
            true,
            true,
        ),
        (
            Test::Equals(Scalar::Bool(true)),
            ConditionValue::Text("true"),
            false,
            true,
        ),
        (
            Test::Equals(Scalar::Bool(true)),
            ConditionValue::Text(" YES "),
            false,
            true,
        ),
        (
            Test::Equals(Scalar::Bool(true)),
            ConditionValue::Number(1.0),
            false,
            true,
        ),
        (
            Test::Equals(Scalar::Bool(true)),
            ConditionValue::Text("false"),
            false,
            false,
        ),
        (
            Test::Equals(Scalar::Number(10.0)),
            ConditionValue::Text("1e1"),
            false,
            true,
        ),
        (
            Test::Equals(Scalar::Number(10.0)),
            ConditionValue::Text("1_0"),
            false,
            true,
        ),
        (
            Test::Equals(text("main")),
            ConditionValue::Text("main\0x"),
            false,
            true,
        ),
        (
            Test::Equals(Scalar::Number(10.0)),
            ConditionValue::Text("1_0\0"),
            false,
            true,
        ),
        (
            Test::Equals(text("main")),
            ConditionValue::Text("x\0main"),
            false,
            false,
        ),
        (
            Test::Equals(text("10")),
            ConditionValue::Number(10.0),
            false,
            true,
        ),
        // Texts are compared as they stand.
        (
            Test::Equals(text("main")),
            ConditionValue::Text("Main"),
            false,
            false,
        ),
        (
            Test::Equals(text("1")),
            ConditionValue::Text("true"),
            false,
            false,
        ),
        (
            Test::In(Scalars::new(vec![text("x"), Scalar::Number(0.0)])),
            ConditionValue::Bool(false),
            false,
            true,
        ),
        (Test::Equals(Scalar::Null), ConditionValue::Absent, false, false),
        (Test::Truthy, ConditionValue::Text("false"), false, true),
        (Test::Truthy, ConditionValue::Text("main"), true, true),
        (Test::Falsy, ConditionValue::Text("off"), false, true),
        (Test::Falsy, ConditionValue::Text("on"), false, false),
        (Test::Falsy, ConditionValue::Absent, true, true),
        (Test::Falsy, ConditionValue::Text("0.0"), false, true),
        (Test::Truthy, ConditionValue::Text("0.0"), false, true),
        (Test::Falsy, ConditionValue::Empty, false, true),
        (Test::Truthy, ConditionValue::Empty, false, true),
        (Test::Truthy, ConditionValue::Compound, true, true),
        (Test::Falsy, ConditionValue::Compound, false, false),
        (Test::Present, ConditionValue::Empty, true, true),
        (Test::Present, ConditionValue::Text("null"), true, true),
        (Test::Present, ConditionValue::Unreadable, false, true),
        (Test::Absent, ConditionValue::Unreadable, false, true),
        (Test::Equals(text("x")), ConditionValue::Unreadable, false, true),
        (Test::Equals(text("x")), ConditionValue::Compound, false, false),
        // As doubles these are one number; a program that reads integers exactly tells them apart.
        (
            Test::Equals(large.clone()),
            ConditionValue::Number(9_007_199_254_740_993.0),
            false,
            true,
        ),
        (
            Test::In(Scalars::new(vec![large])),
            ConditionValue::Number(9_007_199_254_740_992.0),
            false,
            true,
        ),
        (
            Test::Equals(Scalar::Number(9_007_199_254_740_991.0)),
            ConditionValue::Number(9_007_199_254_740_991.0),
            true,
            true,
        ),
    ] {
        assert_eq!(test.surely_holds(given), surely, "{test:?} {given:?}");
        assert_eq!(test.may_hold(given), may, "{test:?} {given:?}");
    }
}

#[test]
fn the_first_clause_that_holds_decides() {
    let clause = |name: &str, test, roles: &[RoleId]| Clause {
        condition: Condition {
            argument: ConditionArgument::Top(name.into()),
            test,
        },
        roles: roles.to_vec(),
    };
    let roles = Roles::Conditional {
        default: vec![RoleId::WRITE_PATH, RoleId::DELETE_PATH],
        when: vec![
            clause("toString", Test::Present, &[RoleId::NONE]),
            clause(
                "mode",
                Test::Equals(Scalar::Text("list".into())),
                &[RoleId::READ_PATH],
            ),
            clause("dry", Test::Truthy, &[]),
        ],
    };
    for (mode, dry, expected) in [
        (
            ConditionValue::Absent,
            ConditionValue::Absent,
            vec![RoleId::WRITE_PATH, RoleId::DELETE_PATH],
        ),
        (
            ConditionValue::Text("list"),
            ConditionValue::Bool(true),
            vec![RoleId::READ_PATH],
        ),
        (ConditionValue::Compound, ConditionValue::Number(1.0), vec![]),
    ] {
        let look = |argument: &ConditionArgument| match argument {
            ConditionArgument::Top(name) if **name == *"mode" => mode,
            ConditionArgument::Top(name) if **name == *"dry" => dry,
            ConditionArgument::Top(_) | ConditionArgument::Pointer(_) => ConditionValue::Absent,
        };
        assert_eq!(roles.resolve(look), expected);
    }
    let possible: Vec<RoleId> = roles.possible().collect();
    assert_eq!(
        possible,
        [
            RoleId::WRITE_PATH,
            RoleId::DELETE_PATH,
            RoleId::NONE,
            RoleId::READ_PATH
        ]
    );
}
