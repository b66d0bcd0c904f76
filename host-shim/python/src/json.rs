//! Python values as JSON text, and back.

use std::fmt::Write as _;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::errors;

/// As deep as Python's own writer goes by default, and far below what would end the stack.
const DEPTH: usize = 512;

/// A value as JSON text. Keys are text; numbers are finite; tuples are arrays. Nothing else is guessed.
pub(crate) fn write(value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    let mut writer = Writer {
        what,
        text: String::with_capacity(128),
        place: Vec::new(),
    };
    writer.value(value)?;
    Ok(writer.text)
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
        Ok(text) => Ok(text.to_str().map_err(|_| unpaired(what))?.to_owned()),
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

fn unpaired(place: &str) -> PyErr {
    errors::call(format!(
        "{place}: the text has a surrogate without its pair, expected text that UTF-8 can hold"
    ))
}

struct Writer<'w> {
    what: &'w str,
    text: String,
    /// The keys that lead to the value, as a JSON Pointer has them.
    place: Vec<String>,
}

impl Writer<'_> {
    fn value(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(text) = value.cast::<PyString>() {
            return self.string(text);
        }
        if let Ok(members) = value.cast::<PyDict>() {
            return self.object(members);
        }
        if value.is_none() {
            self.text.push_str("null");
        } else if let Ok(truth) = value.cast::<PyBool>() {
            self.text.push_str(if truth.is_true() { "true" } else { "false" });
        } else if value.cast::<PyInt>().is_ok() {
            return self.integer(value);
        } else if let Ok(items) = value.cast::<PyList>() {
            return self.array(items.iter());
        } else if let Ok(items) = value.cast::<PyTuple>() {
            return self.array(items.iter());
        } else if let Ok(number) = value.cast::<PyFloat>() {
            let number = number.value();
            if !number.is_finite() {
                return Err(self.refused(&format!("{number} is not a number of JSON")));
            }
            let _ = write!(self.text, "{}", serde_json::Value::from(number));
        } else {
            let found = value.get_type().name()?.to_string();
            return Err(self.refused(&format!(
                "found `{found}`, expected a dict, list, tuple, str, int, float, bool or None"
            )));
        }
        Ok(())
    }

    fn integer(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        match value.extract::<i64>() {
            Ok(small) => {
                let _ = write!(self.text, "{small}");
                Ok(())
            }
            Err(_) => {
                // Of `int` itself: a class derived from it may print itself in another way.
                let int = value.py().get_type::<PyInt>();
                let digits = int.call_method1("__repr__", (value,));
                let digits = digits.map_err(|error| self.refused(&error.to_string()))?;
                self.text.push_str(digits.cast::<PyString>()?.to_str()?);
                Ok(())
            }
        }
    }

    fn string(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let text = text.to_str().map_err(|_| unpaired(&self.here()))?;
        let quoted = serde_json::to_string(text).map_err(errors::other)?;
        self.text.push_str(&quoted);
        Ok(())
    }

    fn object(&mut self, members: &Bound<'_, PyDict>) -> PyResult<()> {
        self.text.push('{');
        for (index, (key, value)) in members.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            let Ok(key) = key.cast::<PyString>() else {
                let found = key.get_type().name()?.to_string();
                return Err(self.refused(&format!("a key is `{found}`, expected str")));
            };
            self.string(key)?;
            self.text.push(':');
            self.within(key.to_str()?.replace('~', "~0").replace('/', "~1"), &value)?;
        }
        self.text.push('}');
        Ok(())
    }

    fn array<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<()> {
        self.text.push('[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            self.within(index.to_string(), &item)?;
        }
        self.text.push(']');
        Ok(())
    }

    fn within(&mut self, step: String, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.place.len() >= DEPTH {
            return Err(self.refused(&format!("nested deeper than {DEPTH}")));
        }
        self.place.push(step);
        self.value(value)?;
        self.place.pop();
        Ok(())
    }

    fn here(&self) -> String {
        let steps: String = self.place.iter().map(|step| format!("/{step}")).collect();
        format!("{}{steps}", self.what)
    }

    fn refused(&self, why: &str) -> PyErr {
        errors::call(format!("{}: {why}", self.here()))
    }
}
