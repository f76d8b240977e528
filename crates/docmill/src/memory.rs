//! Keeps the heap small: by default glibc gives every thread a heap of its own and returns little of it.

/// Heaps shared by all threads.
const HEAPS: i32 = 2;

/// Must be called before the first thread is started.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the setting has no safe binding")]
pub(crate) fn settle() {
    // SAFETY: mallopt takes two integers and touches nothing of ours; no other thread runs yet.
    let accepted = unsafe { libc::mallopt(libc::M_ARENA_MAX, HEAPS) };
    // Refused, it only means more memory.
    debug_assert_eq!(accepted, 1);
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn settle() {}
