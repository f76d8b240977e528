//! The child's loop, whatever its role: orders in, findings out, one document or page after the other.
//!
//! Knows frames and nothing of sockets, descriptors or sandboxes: the process entry brings those along as an
//! [`Orders`] and a writer. A panic inside becomes an error of kind `bug` of that order alone; anything
//! worse ends the process, which is what the process is for.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use docmill_core::error::ErrorNote;
use docmill_core::wire::{self, Found, FromChild, Order, ToChild, Work};
use docmill_core::{Error, Result};

use crate::input::Input;
use crate::kinds;
use crate::read::read;
use crate::sink::Sink;

/// Findings are held back until there are so many bytes of them.
const BUFFER_BYTES: usize = 64 << 10;

/// Where orders come from.
pub trait Orders {
    /// The next frame, with one file for each order in it that has no inline bytes, in the order of the
    /// orders. `None` when the parent has closed its end.
    fn next(&mut self) -> io::Result<Option<(ToChild, Vec<File>)>>;
}

/// What a child does with an order.
pub trait Role {
    /// Does it. The file is that of an order whose bytes do not come with it.
    fn work(&mut self, name: &str, work: Work, file: Option<File>, sink: &mut dyn Sink) -> Result<()>;
}

/// The role of a child that reads documents.
#[derive(Clone, Copy, Debug)]
pub struct Parser;

impl Role for Parser {
    fn work(&mut self, name: &str, work: Work, file: Option<File>, sink: &mut dyn Sink) -> Result<()> {
        let Work::Read { inline, want, limits, passwords } = work else {
            return Err(Error::bug("a child that reads was asked for something else"));
        };
        let mut input = match (inline, file) {
            (Some(bytes), _) => Input::from_bytes(bytes.into()),
            (None, Some(file)) => Input::from_file(file)?,
            (None, None) => return Err(Error::bug(format!("`{name}` has neither bytes nor a file"))),
        };
        input.set_passwords(&passwords);
        read(&mut input, name, want, &limits, sink)
    }
}

/// Serves orders until there are no more. An error means that the parent cannot be reached.
pub fn serve(mut orders: impl Orders, out: impl Write, role: &mut dyn Role) -> Result<()> {
    let mut out = Frames { out, buffer: Vec::with_capacity(2 * BUFFER_BYTES) };
    let lost = |e| Error::unavailable("cannot receive orders").with_source(e);
    while let Some((frame, files)) = orders.next().map_err(lost)? {
        let mut files = VecDeque::from(files);
        for order in frame.orders {
            serve_one(order, &mut files, &mut out, role)?;
        }
        out.flush()?;
    }
    Ok(())
}

/// Loads pdfium, which reads PDF files that the first engine cannot. Call before anything else: the file may lie where
/// only the parent's user may look.
pub fn load_pdfium(path: &Path) -> Result<()> {
    kinds::load_second(path)
}

/// Loads whatever is loaded on first use. Call before the sandbox closes.
pub fn warm_up() -> Result<()> {
    kinds::warm_up()
}

fn serve_one(
    order: Order,
    files: &mut VecDeque<File>,
    out: &mut Frames<impl Write>,
    role: &mut dyn Role,
) -> Result<()> {
    let index = order.index;
    out.put(&FromChild::Begin { index })?;
    // The parent meters from here: it must learn of it before the work, not after it. The end of the document
    // before goes with it.
    out.flush()?;
    let file = match &order.work {
        Work::Read { inline: None, .. } => files.pop_front(),
        Work::Read { .. } | Work::Recognise(_) | Work::Embed(_) => None,
    };
    let mut sink = Framed { index, out, pages: 0, failed: None };
    let result = contained(role, order, file, &mut sink);
    if let Some(error) = sink.failed {
        return Err(error);
    }
    out.put(&FromChild::End { index, result: result.as_ref().map_err(ErrorNote::from).copied() })
}

/// Works, and turns a panic into an error.
fn contained(role: &mut dyn Role, order: Order, file: Option<File>, sink: &mut dyn Sink) -> Result<()> {
    let Order { name, work, .. } = order;
    let working = AssertUnwindSafe(|| role.work(&name, work, file, sink));
    catch_unwind(working).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        Err(Error::bug(format!("the reader panicked: {said}")))
    })
}

/// Findings of one document as frames.
struct Framed<'a, W: Write> {
    index: u64,
    out: &'a mut Frames<W>,
    pages: u32,
    /// Why the parent could not be reached: no reader may take that for a fault of the document.
    failed: Option<Error>,
}

impl<W: Write> Framed<'_, W> {
    fn send(&mut self, found: Found) -> Result<()> {
        self.pages += u32::from(matches!(found, Found::Page(_)));
        let progress = (self.pages > 1 && matches!(found, Found::Page(_)))
            || matches!(found, Found::Scan(_) | Found::Tried | Found::Vectors(_));
        self.out.put(&FromChild::Found { index: self.index, found })?;
        // These are what the parent counts as progress; a single page goes out with the end of the document.
        if progress { self.out.flush() } else { Ok(()) }
    }
}

impl<W: Write> Sink for Framed<'_, W> {
    fn put(&mut self, found: Found) -> Result<()> {
        self.send(found).map_err(|error| {
            let told = Error::unavailable(error.message());
            self.failed.get_or_insert(error);
            told
        })
    }
}

/// Frames on their way out, several in one write.
struct Frames<W: Write> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> Frames<W> {
    fn put(&mut self, frame: &FromChild) -> Result<()> {
        wire::encode(frame, &mut self.buffer)?;
        if self.buffer.len() > BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let lost = |e| Error::unavailable("cannot send findings").with_source(e);
        self.out.write_all(&self.buffer).map_err(lost)?;
        self.buffer.clear();
        self.buffer.shrink_to(4 * BUFFER_BYTES);
        self.out.flush().map_err(lost)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Seek;

    use docmill_core::error::ErrorKind;
    use docmill_core::limits::Limits;
    use docmill_core::wire::Want;

    use super::*;

    struct Listed(VecDeque<(ToChild, Vec<File>)>);

    impl Orders for Listed {
        fn next(&mut self) -> io::Result<Option<(ToChild, Vec<File>)>> {
            Ok(self.0.pop_front())
        }
    }

    fn order(index: u64, name: &str, inline: Option<&[u8]>) -> Order {
        let limits = Limits::default().for_reader();
        let work = Work::Read {
            inline: inline.map(|bytes| bytes.to_vec().into()),
            want: Want::TEXT,
            limits,
            passwords: Vec::new(),
        };
        Order { index, name: name.into(), work }
    }

    fn served(frames: Vec<(ToChild, Vec<File>)>) -> Vec<FromChild> {
        let mut out = Vec::new();
        serve(Listed(frames.into()), &mut out, &mut Parser).unwrap();
        let (mut from, mut body, mut answers) = (out.as_slice(), Vec::new(), Vec::new());
        while wire::read_frame(&mut from, &mut body).unwrap() {
            answers.push(wire::decode(&body).unwrap());
        }
        answers
    }

    #[test]
    fn every_order_is_begun_and_ended_in_turn() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"from a file\n").unwrap();
        file.rewind().unwrap();
        let frames = vec![
            (ToChild { orders: vec![order(3, "a.txt", Some(b"one")), order(4, "b.txt", Some(b""))] }, vec![]),
            (ToChild { orders: vec![order(5, "c.txt", None)] }, vec![file]),
            (
                ToChild {
                    orders: vec![order(6, "d.bin", Some(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0"))],
                },
                vec![],
            ),
        ];
        let mut seen = Vec::new();
        for answer in served(frames) {
            match answer {
                FromChild::Begin { index } => seen.push(format!("begin {index}")),
                FromChild::Found { index, found: Found::Page(page) } => {
                    seen.push(format!("page {index} {}", page.text.trim()));
                }
                FromChild::End { index, result } => {
                    seen.push(format!("end {index} {}", result.map_or_else(|e| e.kind.name(), |()| "ok")));
                }
                FromChild::Found { .. } | FromChild::Ready { .. } => {}
            }
        }
        let expected = [
            "begin 3",
            "page 3 one",
            "end 3 ok",
            "begin 4",
            "end 4 empty_file",
            "begin 5",
            "page 5 from a file",
            "end 5 ok",
            "begin 6",
            "end 6 unsupported_format",
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn order_without_bytes_or_file_is_a_bug_of_that_order_alone() {
        let frames =
            vec![(ToChild { orders: vec![order(1, "a", None), order(2, "b.txt", Some(b"x"))] }, vec![])];
        let ends: Vec<_> = served(frames)
            .into_iter()
            .filter_map(|a| if let FromChild::End { result, .. } = a { Some(result) } else { None })
            .collect();
        assert_eq!(ends[0].as_ref().unwrap_err().kind, ErrorKind::Bug);
        assert!(ends[1].is_ok());
    }

    #[test]
    fn lost_parent_ends_the_loop_with_an_error() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let frames = VecDeque::from([(ToChild { orders: vec![order(1, "a.txt", Some(b"x"))] }, vec![])]);
        assert_eq!(serve(Listed(frames), Closed, &mut Parser).unwrap_err().kind(), ErrorKind::Unavailable);
    }

    #[test]
    fn warm_up_reads_with_built_in_fonts_and_maps() {
        warm_up().unwrap();
    }
}
