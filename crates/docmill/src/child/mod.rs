//! The inside of a sandboxed child: this binary, started by itself as `docmill __child --role …`.
//!
//! A child is born with one socket (its stdin) and gives up everything else before it sees the first hostile
//! byte. It never opens a file, never speaks to anything but that socket, and dies with its parent.
//!
//! `entry` is the order of events, `sandbox` and `syscalls` what is given up, `orders` how work arrives. The
//! other end of the socket is `docmill_backends::child`.

pub(crate) mod entry;
mod orders;
mod sandbox;
mod syscalls;
