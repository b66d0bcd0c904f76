//! Python values as JSON text, and back.

use std::fmt::Write as _;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::errors;

/// As deep as Python's own writer goes by default, and far below what would end the stack.
const DEPTH: usize = 512;

/// A value as JSON text. Keys are text; numbers are finite; tuples are arrays. Nothing else is guessed.
pub(crate) fn write(given: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    let mut text = String::new();
    value(given, 0, &mut text).map_err(|Refusal { why, steps }| {
        let place: String = steps.iter().rev().map(|step| format!("/{step}")).collect();
        errors::call(format!("{what}{place}: {why}"))
    })?;
    Ok(text)
}

/// The arguments of a call; `None` for a call without any.
pub(crate) fn raw(value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Box<RawValue>>> {
    let Some(value) = value.filter(|value| !value.is_none()) else {
        return Ok(None);
    };
    let text = write(value, "arguments")?;
    RawValue::from_string(text).map(Some).map_err(errors::call)
}

/// Text as it is, and any other value as JSON text.
pub(crate) fn document(value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_str()?.to_owned()),
        Err(_) => write(value, what),
    }
}

/// JSON text as a Python value, by Python's own reader.
pub(crate) fn read<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let loads = LOADS.get_or_try_init(py, || {
        let module = py.import("json")?;
        Ok::<_, PyErr>(module.getattr("loads")?.unbind())
    })?;
    loads.bind(py).call1((text,))
}

/// What serializes, as a Python value.
pub(crate) fn of<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    read(py, &serde_json::to_string(value).map_err(errors::other)?)
}

/// Lines of JSON, as a list of Python values.
pub(crate) fn lines<'py>(py: Python<'py>, lines: &[String]) -> PyResult<Bound<'py, PyAny>> {
    read(py, &format!("[{}]", lines.join(",")))
}

/// Why a value is not JSON, and the steps that lead to it, the last first.
struct Refusal {
    why: String,
    steps: Vec<String>,
}

impl Refusal {
    fn new(why: impl Into<String>) -> Self {
        let why = why.into();
        let steps = Vec::new();
        Self { why, steps }
    }

    /// The same of a value that holds the value.
    fn within(mut self, step: impl ToString) -> Self {
        self.steps
            .push(step.to_string().replace('~', "~0").replace('/', "~1"));
        self
    }
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self::new(error.to_string())
    }
}

fn value(value: &Bound<'_, PyAny>, depth: usize, text: &mut String) -> Result<(), Refusal> {
    if depth > DEPTH {
        return Err(Refusal::new(format!("nested deeper than {DEPTH}")));
    }
    if let Ok(found) = value.cast::<PyString>() {
        return string(found, text);
    }
    if let Ok(members) = value.cast::<PyDict>() {
        return object(members, depth, text);
    }
    if value.is_none() {
        text.push_str("null");
    } else if let Ok(truth) = value.cast::<PyBool>() {
        text.push_str(if truth.is_true() { "true" } else { "false" });
    } else if value.cast::<PyInt>().is_ok() {
        return integer(value, text);
    } else if let Ok(items) = value.cast::<PyList>() {
        return array(items.iter(), depth, text);
    } else if let Ok(items) = value.cast::<PyTuple>() {
        return array(items.iter(), depth, text);
    } else if let Ok(number) = value.cast::<PyFloat>() {
        let number = number.value();
        if !number.is_finite() {
            return Err(Refusal::new(format!("{number} is not a number of JSON")));
        }
        let _ = write!(text, "{}", serde_json::Value::from(number));
    } else {
        let found = value.get_type().name()?.to_string();
        return Err(Refusal::new(format!(
            "found `{found}`, expected a dict, list, tuple, str, int, float, bool or None"
        )));
    }
    Ok(())
}

fn integer(value: &Bound<'_, PyAny>, text: &mut String) -> Result<(), Refusal> {
    if let Ok(small) = value.extract::<i64>() {
        let _ = write!(text, "{small}");
        return Ok(());
    }
    // Of `int` itself: a class that derives from it may print itself in another way.
    let int = value.py().get_type::<PyInt>();
    let digits: String = int.call_method1("__repr__", (value,))?.extract()?;
    text.push_str(&digits);
    Ok(())
}

/// Text in quotes. Python's may hold halves of surrogate pairs, which JSON can only escape.
fn string(found: &Bound<'_, PyString>, text: &mut String) -> Result<(), Refusal> {
    if let Ok(found) = found.to_str() {
        text.push_str(&serde_json::to_string(found).map_err(|error| Refusal::new(error.to_string()))?);
        return Ok(());
    }
    let units = found.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let units = units.cast::<PyBytes>().map_err(PyErr::from)?;
    text.push('"');
    for pair in units.as_bytes().chunks_exact(2) {
        if let Ok(pair) = pair.try_into() {
            let _ = write!(text, "\\u{:04x}", u16::from_le_bytes(pair));
        }
    }
    text.push('"');
    Ok(())
}

fn object(members: &Bound<'_, PyDict>, depth: usize, text: &mut String) -> Result<(), Refusal> {
    text.push('{');
    for (index, (key, member)) in members.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        let Ok(key) = key.cast::<PyString>() else {
            let found = key.get_type().name()?.to_string();
            return Err(Refusal::new(format!("a key is `{found}`, expected str")));
        };
        string(key, text)?;
        text.push(':');
        value(&member, depth + 1, text).map_err(|why| why.within(key.to_string_lossy()))?;
    }
    text.push('}');
    Ok(())
}

fn array<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
    text: &mut String,
) -> Result<(), Refusal> {
    text.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            text.push(',');
        }
        value(&item, depth + 1, text).map_err(|why| why.within(index))?;
    }
    text.push(']');
    Ok(())
}
