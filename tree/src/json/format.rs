//! The two spellings of JSON text: compact, and as the service prints for people.
//!
//! Why formatters of our own: doubles are printed as JavaScript does (rest reference 7.4), and the service's pretty form
//! (rest reference 3, `print`) is not that of `serde_json`.

use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Without any white space.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compact;

/// Members on lines of their own, indented by two spaces, with ` : ` behind the key; arrays on one line as `[ 1, 2 ]`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pretty {
    /// Objects that are open. Arrays do not indent what is in them.
    depth: usize,
    /// Whether the object that was opened last has a member.
    has_member: bool,
}

fn write_double<W: ?Sized + Write>(writer: &mut W, value: f64) -> io::Result<()> {
    writer.write_all(ryu_js::Buffer::new().format_finite(value).as_bytes())
}

impl Formatter for Compact {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write_double(writer, value)
    }
}

impl Pretty {
    fn new_line<W: ?Sized + Write>(self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Pretty {
    fn write_f64<W: ?Sized + Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write_double(writer, value)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b" ]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b" " } else { b", " })
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.has_member = false;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        if self.has_member {
            self.new_line(writer)?;
        } else {
            writer.write_all(b" ")?;
        }
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        self.new_line(writer)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b" : ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_member = true;
        Ok(())
    }
}
