//! What libraries miss in the environment, and complain about on stderr.

/// Says that there is no window system, where nobody says anything: on servers and in containers.
///
/// Mesa's Vulkan layer asks Wayland's library whether there is one, in every process that lists devices. That library prints an error if it is not told
/// where to look, and nothing if it finds nothing there. It has an effect only while there is no other thread.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "libraries of others can be told by the environment alone")]
pub fn settle() {
    /// Where a window system would be.
    const RUNTIME_FOLDER: &str = "XDG_RUNTIME_DIR";
    /// A folder that is there and ours, and into which nobody can put anything.
    const EMPTY_FOLDER: &str = "/proc/self";
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    if threads == 1 && std::env::var_os(RUNTIME_FOLDER).is_none() {
        // SAFETY: no other thread can look at the environment meanwhile, as this is the only one.
        unsafe { std::env::set_var(RUNTIME_FOLDER, EMPTY_FOLDER) };
    }
}

/// Only Linux has it.
#[cfg(not(target_os = "linux"))]
pub fn settle() {}
