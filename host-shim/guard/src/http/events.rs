//! Server-sent events: <https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream>.

use std::fmt::Write as _;

/// An event of a stream. Its type is of no use here: every message of MCP has the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// The id, by which a client can go on after it.
    pub(super) id: Option<String>,
    /// How many milliseconds a client should wait before it goes on.
    pub(super) retry: Option<u64>,
    pub(super) data: Option<String>,
}

/// An event or a line of more bytes than the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Reads a stream that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Reader {
    line: Vec<u8>,
    /// The last byte was a carriage return, so that a line feed ends nothing.
    after_return: bool,
    event: Event,
    limit: usize,
}

impl Reader {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// The events that end in this piece.
    ///
    /// # Errors
    /// An event is too long; the stream cannot be read any further.
    pub(super) fn read(&mut self, piece: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        let mut rest = piece;
        while let Some((first, others)) = rest.split_first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                rest = others;
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let (part, end) =
                match end.and_then(|at| Some((rest.get(..at)?, *rest.get(at)?, rest.get(at + 1..)?))) {
                    Some((part, end, after)) => {
                        rest = after;
                        (part, Some(end))
                    }
                    None => (std::mem::take(&mut rest), None),
                };
            if self.kept() + part.len() > self.limit {
                return Err(TooLong);
            }
            self.line.extend_from_slice(part);
            if let Some(end) = end {
                self.after_return = end == b'\r';
                let line = std::mem::take(&mut self.line);
                // A line that is not UTF-8 is not JSON, and fails where that is read.
                events.extend(self.end_line(&String::from_utf8_lossy(&line)));
            }
        }
        Ok(events)
    }

    /// Bytes of what has not ended yet.
    pub(super) fn kept(&self) -> usize {
        self.line.len() + self.event.data.as_ref().map_or(0, String::len)
    }

    fn end_line(&mut self, line: &str) -> Option<Event> {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return (event != Event::default()).then_some(event);
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => match &mut self.event.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.event.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" => self.event.retry = value.parse().ok().or(self.event.retry),
            // Comments, types of events, and what is not known.
            _ => {}
        }
        None
    }
}

impl Event {
    /// The event as it is sent. Its data has no line breaks.
    pub(super) fn written(&self) -> String {
        let mut text = String::with_capacity(self.data.as_ref().map_or(0, String::len) + 64);
        // Writing to a string does not fail.
        if let Some(id) = &self.id {
            let _ = writeln!(text, "id: {id}");
        }
        if let Some(retry) = self.retry {
            let _ = writeln!(text, "retry: {retry}");
        }
        let data = self.data.as_deref().unwrap_or_default();
        if !data.is_empty() {
            text.push_str("event: message\n");
        }
        let _ = writeln!(text, "data: {data}\n");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, size: usize) -> Vec<Event> {
        let mut reader = Reader::new(64);
        let pieces = text.as_bytes().chunks(size);
        pieces.flat_map(|piece| reader.read(piece).unwrap()).collect()
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = "\u{feff}: hello\r\nid: 7\r\nretry: 250\r\ndata:\r\n\r\nevent: message\ndata: {\"a\":\ndata:1}\n\n\rdata: x\r\rid: half\n";
        let event = |id: Option<&str>, retry, data: &str| Event {
            id: id.map(str::to_owned),
            retry,
            data: Some(data.to_owned()),
        };
        let expected = [
            event(Some("7"), Some(250), ""),
            event(None, None, "{\"a\":\n1}"),
            event(None, None, "x"),
        ];
        for size in [1, 2, 3, 1000] {
            assert_eq!(read(text, size), expected, "{size}");
        }
        for event in &expected {
            let data = event.data.as_ref().map(|data| data.replace('\n', " "));
            let written = Event {
                data,
                ..event.clone()
            };
            assert_eq!(read(&written.written(), 5), [written]);
        }
    }

    #[test]
    fn an_event_has_a_limit() {
        assert_eq!(Reader::new(8).read(b"data: 1234"), Err(TooLong));
        assert_eq!(
            Reader::new(12).read(b"data: 123\ndata: 456\ndata: 789\n"),
            Err(TooLong)
        );
    }
}
