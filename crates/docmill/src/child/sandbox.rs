//! What a child gives up, each as one layer of which it is reported whether it holds.
//!
//! The order matters: descriptors and identity first (they need privileges), then the bonds to the parent
//! (a change of identity would undo them), limits, and last Landlock and the system call filter. Nothing
//! here stops at a layer that the machine does not have: the parent decides whether what holds is enough.

use std::io;
use std::process;

use docmill_core::wire::Layer;
use docmill_core::{Error, Result};
use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, Ruleset, RulesetAttr, RulesetStatus, Scope,
};
use rustix::process::{DumpableBehavior, Pid, Resource, Rlimit, Signal};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::syscalls;

/// `nobody`: owns no file.
const NOBODY: u32 = 65534;

/// Descriptors a child may hold at once: its three, the one in work and what a reader duplicates.
const MAX_OPEN_FILES: u64 = 64;

/// Deeply nested input recurses; this is room for the nesting limits of every reader.
const STACK_BYTES: u64 = 16 << 20;

/// Children give way to the server, which has leases to renew.
const NICENESS: i32 = 5;

/// The layers that hold, gathered on the way.
#[derive(Default)]
pub(super) struct Sandbox {
    layers: Vec<Layer>,
}

impl Sandbox {
    /// Everything that can be given up before fonts and the like are loaded.
    pub(super) fn prepare(&mut self, parent: u32, memory_bytes: u64) -> Result<()> {
        self.note("descriptors", close_inherited().map(|()| "only the socket is open".to_owned()));
        self.note("uid", drop_identity());
        self.note("capabilities", drop_capabilities());
        self.note("parent_death", die_with(parent));
        if rustix::process::getppid() != Pid::from_raw(parent as i32) {
            // The parent died before the bond was made, so nothing would ever end this process.
            return Err(Error::unavailable(format!("the parent, process {parent}, is gone")));
        }
        self.note(
            "dumpable",
            rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
                .map(|()| "no core dump, no tracing by equals".to_owned())
                .map_err(io::Error::from),
        );
        self.note(
            "no_new_privs",
            rustix::thread::set_no_new_privs(true)
                .map(|()| "no program can give back what was given up".to_owned())
                .map_err(io::Error::from),
        );
        self.note("rlimits", limit_resources(memory_bytes));
        self.note(
            "nice",
            rustix::process::nice(NICENESS).map(|n| format!("niceness {n}")).map_err(io::Error::from),
        );
        Ok(())
    }

    /// The last two layers. After this no file can be opened.
    pub(super) fn seal(mut self) -> Vec<Layer> {
        self.layers.push(landlock());
        let seccomp = syscalls::forbid_the_rest(process::id())
            .map(|n| format!("{n} system calls allowed, all others answer EPERM"))
            .map_err(io::Error::other);
        self.note("seccomp", seccomp);
        self.layers
    }

    fn note(&mut self, name: &str, outcome: io::Result<String>) {
        let (active, detail) = match outcome {
            Ok(detail) => (true, detail),
            Err(error) => (false, error.to_string()),
        };
        self.layers.push(Layer { name: name.to_owned(), active, detail });
    }
}

fn close_inherited() -> io::Result<()> {
    // SAFETY: this runs first, on the only thread; nothing in this process owns a descriptor above 2 yet.
    #[expect(unsafe_code, reason = "closing descriptors one does not own has no safe form")]
    let answer = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn drop_identity() -> io::Result<String> {
    if !rustix::process::geteuid().is_root() {
        let uid = rustix::process::getuid().as_raw();
        return Err(io::Error::other(format!(
            "runs as uid {uid} like its parent; only root can change that"
        )));
    }
    // There is one thread, so that what holds for the thread holds for the process.
    rustix::thread::set_thread_groups(&[])?;
    let gid = rustix::process::Gid::from_raw(NOBODY);
    rustix::thread::set_thread_res_gid(gid, gid, gid)?;
    let uid = rustix::process::Uid::from_raw(NOBODY);
    rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    Ok(format!("uid and gid {NOBODY}, no groups"))
}

fn drop_capabilities() -> io::Result<String> {
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )?;
    Ok("none".to_owned())
}

fn die_with(parent: u32) -> io::Result<String> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    Ok(format!("killed when process {parent} ends, and ends by itself when the socket closes"))
}

fn limit_resources(memory_bytes: u64) -> io::Result<String> {
    let limits = [
        (Resource::Data, memory_bytes),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
        (Resource::Nofile, MAX_OPEN_FILES),
        (Resource::Stack, STACK_BYTES),
    ];
    for (resource, wanted) in limits {
        // A limit can be lowered without privileges and never raised, so an existing lower one stays.
        let ceiling = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Some(wanted.min(ceiling));
        rustix::process::setrlimit(resource, Rlimit { current: limit, maximum: limit })?;
    }
    Ok(format!(
        "data {memory_bytes} bytes, files written 0 bytes, no core, {MAX_OPEN_FILES} descriptors, stack {STACK_BYTES} bytes"
    ))
}

/// No path can be opened, made, run or removed, no TCP port used, and where the kernel knows it no process
/// outside can be signalled and no abstract socket reached. Takes whatever part the kernel has.
fn landlock() -> Layer {
    let restricted = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V5))
        .and_then(|r| r.handle_access(AccessNet::from_all(ABI::V4)))
        .and_then(|r| r.scope(Scope::from_all(ABI::V6)))
        .and_then(Ruleset::create)
        .and_then(landlock::RulesetCreated::restrict_self);
    let (active, detail) = match restricted {
        Ok(status) => {
            let abi = match status.landlock {
                LandlockStatus::Available { effective_abi, .. } => format!("ABI {}", effective_abi as i32),
                LandlockStatus::NotEnabled => "not enabled in this kernel".to_owned(),
                LandlockStatus::NotImplemented => "not in this kernel".to_owned(),
            };
            match status.ruleset {
                RulesetStatus::FullyEnforced => {
                    (true, format!("{abi}: no files, no TCP, no signals, no abstract sockets"))
                }
                RulesetStatus::PartiallyEnforced => {
                    (true, format!("{abi}: no files; the kernel lacks some of the newer rules"))
                }
                RulesetStatus::NotEnforced => (false, abi),
            }
        }
        Err(error) => (false, error.to_string()),
    };
    Layer { name: "landlock".to_owned(), active, detail }
}
