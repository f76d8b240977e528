//! The system calls a parsing child may still make: a short list of what the allocator, threads, the clock,
//! the inherited socket and passed descriptors need. Everything else answers EPERM.
//!
//! Nothing here opens, creates, connects, executes or signals. `clone3` answers ENOSYS, because its flags lie
//! behind a pointer that a filter cannot read; the C library then falls back to `clone`, whose flags show
//! whether a thread or a process is wanted.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter_all_threads,
};

/// Allowed whatever their arguments are.
const ALLOWED: &[libc::c_long] = &[
    // The socket and the descriptors that come through it.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvmsg,
    libc::SYS_recvfrom,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_close,
    libc::SYS_ppoll,
    // Memory. Executable pages are refused below.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    // Threads.
    libc::SYS_clone3,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_membarrier,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // Signals to oneself; without these a crash could not be a crash.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    // Time and chance.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
];

/// Old numbers that only exist on x86-64, where the C library still uses them.
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[libc::c_long] = &[libc::SYS_poll, libc::SYS_time, libc::SYS_arch_prctl];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[libc::c_long] = &[];

/// Installs the filter on every thread of this process. It cannot be taken off again.
pub(super) fn forbid_the_rest(own_pid: u32) -> Result<usize, seccompiler::Error> {
    let list = allow_list(own_pid)?;
    let allowed = list.len();
    let arch = std::env::consts::ARCH.try_into()?;
    let no_clone3: BpfProgram = SeccompFilter::new(
        BTreeMap::from([(libc::SYS_clone3, vec![])]),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS as u32),
        arch,
    )?
    .try_into()?;
    let the_rest: BpfProgram =
        SeccompFilter::new(list, SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow, arch)?
            .try_into()?;
    // Of two filters the stricter answer counts, so `clone3` is refused although the list allows it.
    apply_filter_all_threads(&no_clone3)?;
    apply_filter_all_threads(&the_rest)?;
    Ok(allowed)
}

fn allow_list(own_pid: u32) -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let mut list: BTreeMap<i64, Vec<SeccompRule>> =
        ALLOWED.iter().chain(ALLOWED_HERE).map(|number| (*number, vec![])).collect();

    let thread = libc::CLONE_THREAD as u64;
    list.insert(libc::SYS_clone, vec![when(&[masked(0, thread, thread)?])?]);
    // `abort` raises SIGABRT by way of `tgkill`.
    list.insert(libc::SYS_tgkill, vec![when(&[equal(0, u64::from(own_pid))?])?]);
    let executable = libc::PROT_EXEC as u64;
    list.insert(libc::SYS_mmap, vec![when(&[masked(2, executable, 0)?])?]);
    list.insert(libc::SYS_mprotect, vec![when(&[masked(2, executable, 0)?])?]);
    // No address: only to the peer of the socket.
    list.insert(libc::SYS_sendto, vec![when(&[equal_pointer(4, 0)?])?]);
    list.insert(libc::SYS_prctl, vec![when(&[equal(0, libc::PR_SET_NAME as u64)?])?]);
    // Asking for a limit, not setting one.
    list.insert(libc::SYS_prlimit64, vec![when(&[equal_pointer(2, 0)?])?]);
    let duplicate_or_ask = [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_DUPFD_CLOEXEC];
    let rules: Result<Vec<_>, _> =
        duplicate_or_ask.iter().map(|command| when(&[equal(1, *command as u64)?])).collect();
    list.insert(libc::SYS_fcntl, rules?);
    Ok(list)
}

fn when(conditions: &[SeccompCondition]) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions.to_vec())
}

fn equal(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn equal_pointer(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(mask), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allow_list_names_nothing_that_opens_connects_executes_or_signals() {
        let list = allow_list(1).unwrap();
        for number in [
            libc::SYS_openat,
            libc::SYS_openat2,
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_sendmsg,
            libc::SYS_execve,
            libc::SYS_execveat,
            libc::SYS_kill,
            libc::SYS_tkill,
            libc::SYS_pidfd_send_signal,
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_memfd_create,
            libc::SYS_io_uring_setup,
            libc::SYS_bpf,
            libc::SYS_mount,
            libc::SYS_unshare,
            libc::SYS_setrlimit,
            libc::SYS_ioctl,
        ] {
            assert!(!list.contains_key(&number), "system call {number} is allowed");
        }
    }
}
