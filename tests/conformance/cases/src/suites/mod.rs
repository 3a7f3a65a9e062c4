//! The suites, one file for each family.

mod allocator;
mod budgets;
mod command_buffer;
mod dispatch;
mod driver;
mod executable;
mod features;
mod indirect;
mod kernel;
mod mapping;
mod memory;
mod pipeline;
mod queue_alloca;
mod queue_transfer;
mod refusals;
mod refusals_kernel;
mod reuse;
mod semaphore;
mod semaphore_submission;
mod semaphore_thread;
mod transient;

use crate::{
    case::{Case, Suite},
    target::Target,
};

/// Every case, in the order in which it is run and reported.
pub fn cases<T: Target>() -> Vec<Case<T>> {
    let mut all = Vec::new();
    let mut suite = |suite, add: fn(&mut Suite<'_, T>)| add(&mut Suite { all: &mut all, suite });
    suite("DriverTest", driver::driver);
    suite("AllocatorTest", allocator::allocator);
    suite("BufferMappingTest", mapping::mapping);
    suite("FileTest", mapping::file);
    suite("CommandBufferBasicTest", command_buffer::basic);
    suite("CommandBufferCopyBufferTest", command_buffer::copies);
    suite("CommandBufferFillBufferTest", command_buffer::fills);
    suite("CommandBufferUpdateBufferTest", command_buffer::updates);
    suite("CommandBufferStressTest", command_buffer::stress);
    suite("TransientBufferTest", transient::transient);
    suite("AsyncTransientBufferTest", transient::deferred);
    suite("ExecutableCacheTest", executable::cache);
    suite("ExecutableTest", executable::executable);
    suite("DispatchTest", dispatch::bindings);
    suite("DispatchConstantsTest", dispatch::constants);
    suite("DispatchConstantsBindingsTest", dispatch::constants_and_bindings);
    suite("DispatchMultiEntrypointTest", dispatch::entry_points);
    suite("DispatchMultiWorkgroupTest", dispatch::workgroups);
    suite("DispatchIndirectParametersTest", indirect::recorded);
    suite("DispatchPipelineTest", pipeline::pipeline);
    suite("DispatchReuseTest", reuse::reuse);
    suite("QueueDispatchTest", dispatch::queued);
    suite("QueueDispatchIndirectParametersTest", indirect::queued);
    suite("SemaphoreTest", semaphore::semaphore);
    suite("SemaphoreThreadTest", semaphore_thread::threads);
    suite("SemaphoreSubmissionTest", semaphore_submission::submission);
    suite("QueueAllocaTest", queue_alloca::alloca);
    suite("QueueTransferTest", queue_transfer::transfers);
    suite("KernelFeatures", kernel::kernel);
    suite("OptionalFeatures", features::features);
    suite("MemoryIsolation", memory::memory);
    suite("RangeRefusals", refusals::ranges);
    suite("RightRefusals", refusals::rights);
    suite("RecordingRefusals", refusals::recordings);
    suite("ObjectRefusals", refusals::objects);
    suite("SemaphoreRefusals", refusals::semaphores);
    suite("KernelRefusals", refusals_kernel::kernels);
    suite("DispatchRefusals", refusals_kernel::dispatches);
    suite("IndirectRefusals", refusals_kernel::indirect);
    suite("BudgetEdges", budgets::edges);
    all
}
