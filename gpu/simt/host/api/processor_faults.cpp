// A signal's handler may do next to nothing. So it sends the kernel's thread on to tell_fault(), at the top of that thread's stack, which
// nobody needs any more: the thread does not go on, and what is said there is said outside of the handler.
#include "gpu/simt/host/api/processor_faults.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "gpu/simt/state.hpp"

namespace plumb::simt {

namespace {

constexpr std::size_t kPage = 4096;

struct ProcessorFault {
  int signal = 0;  // 0: none yet
  std::uintptr_t address = 0, pc = 0, caller = 0;
};
ProcessorFault the_fault;

#if defined(__x86_64__)
struct Registers {
  greg_t &pc, &sp;
  explicit Registers(ucontext_t& c) : pc(c.uc_mcontext.gregs[REG_RIP]), sp(c.uc_mcontext.gregs[REG_RSP]) {}
  // Where a call just came from.
  std::uintptr_t caller() const { return *reinterpret_cast<const std::uintptr_t*>(sp); }
  void go_on(void (*function)(), unsigned char* top) {
    pc = reinterpret_cast<greg_t>(function);
    sp = static_cast<greg_t>((reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{63}) -
                             8);  // as behind a call
  }
};
#elif defined(__aarch64__)
struct Registers {
  unsigned long long &pc, &sp, &link;
  explicit Registers(ucontext_t& c)
      : pc(c.uc_mcontext.pc), sp(c.uc_mcontext.sp), link(c.uc_mcontext.regs[30]) {}
  std::uintptr_t caller() const { return link; }
  void go_on(void (*function)(), unsigned char* top) {
    pc = reinterpret_cast<std::uintptr_t>(function);
    sp = reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{63};
  }
};
#endif

bool is_full(const Thread& t, std::uintptr_t address) {
  const auto low = reinterpret_cast<std::uintptr_t>(t.stack_low);
  return address >= low && address < low + kPage;
}

// The address of other signals is the instruction's own.
bool is_call(const ProcessorFault& f) {
  return (f.signal == SIGSEGV || f.signal == SIGBUS) && f.address == f.pc;
}

std::string text_of(const ProcessorFault& f) {
  if (f.signal == SIGFPE)
    return "an integer is divided by 0, or the smallest one by -1, which has no defined value";
  if (f.signal == SIGILL)
    return "no instruction: the compiler found the code here to have no defined meaning";
  if (is_call(f)) return fmt::format("a call of address {:#x}, where no function is", f.address);
  return fmt::format("an access to address {:#x}, where no memory is", f.address);
}

void tell_fault() {
  Thread& t = *current().schedule.thread;
  const ProcessorFault& f = the_fault;
  if (is_full(t, f.address)) {
    if (current().run.shortage.empty())
      current().run.shortage = fmt::format(
          "out of stack: a thread of a kernel has {} KiB, which large arrays of its own use up, or a "
          "recursion that "
          "does not end",
          (kStackBytes - kPage) / 1024);
  } else {
    const std::uintptr_t pc = is_call(f) ? f.caller : f.pc + 1;  // the place is looked up one byte before
    note(FindingKind::trap, text_of(f), &t, locate(reinterpret_cast<const void*>(pc)));
  }
  the_fault = {};
  stop();
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const Thread* const t = current().schedule.thread;
  Registers registers(*static_cast<ucontext_t*>(context));
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto low = t != nullptr ? reinterpret_cast<std::uintptr_t>(t->stack_low) : 0;
  const auto sp = static_cast<std::uintptr_t>(registers.sp);
  const bool in_kernel = low != 0 && (is_full(*t, address) || (sp >= low + kPage && sp < low + kStackBytes));
  if (!in_kernel || the_fault.signal != 0) {  // it comes again, and ends the process
    ::signal(signal, SIG_DFL);
    return;
  }
  const auto pc = static_cast<std::uintptr_t>(registers.pc);
  the_fault = {signal, address, pc, 0};
  if (is_call(the_fault)) the_fault.caller = registers.caller();
  registers.go_on(&tell_fault, top_of_stack(*t));
}

class SignalStack {
 public:
  SignalStack() {
    stack_t now{};
    if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;  // the program's own
    stack_t mine{};
    mine.ss_sp = bytes_.data();
    mine.ss_size = bytes_.size();
    is_mine_ = sigaltstack(&mine, nullptr) == 0;
  }
  ~SignalStack() {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (is_mine_) sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  std::array<unsigned char, std::size_t{64} * 1024> bytes_;
  bool is_mine_ = false;
};

}  // namespace

void give_signal_stack() {
  static thread_local SignalStack stack;
  static_cast<void>(stack);
}

void watch_processor_faults() {
  give_signal_stack();
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction mine {};
    mine.sa_sigaction = &on_fault;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(signal, &mine, nullptr);
  }
}

}  // namespace plumb::simt
