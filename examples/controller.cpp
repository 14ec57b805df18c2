// A controller in C++17 for the quarter-car suspension: a skyhook damper that answers each tick and outlives the node.
//
//     controller_cpp NODE [SPIN_US [PRIORITY]]
//
// It polls for SPIN_US microseconds before it sleeps on the ring's bell: sooner awake, for a core that burns. Of several
// controllers that send to one input the one of the highest PRIORITY is in charge, as long as it sends. When the node
// ends it waits for the next one of that name, whose ring is of a new generation. SIGINT and SIGTERM end it.
// It needs no ROS and no library; CMakeLists.txt beside it builds it.
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <sim_node/ring.h>

namespace {

constexpr float skyhook = -3000.0F; // N s/m
constexpr std::uint32_t most = 64;  // corners

volatile std::sig_atomic_t stopped = 0;

// Answer the ticks of one generation until it ends or a signal comes; returns nullptr, or what is wrong with it.
const char *control(sn_ring *ring, std::int64_t spin_ns, std::int32_t priority)
{
    std::uint64_t velocity_at, answered = 0, missed = 0;
    std::uint32_t force, corners = 0;
    const char *wrong;
    do {
        wrong = sn_ring_input(ring, "force", "f32", ++corners * sizeof(float), &force);
    } while (wrong != nullptr && corners < most);
    if (wrong == nullptr) wrong = sn_ring_field(ring, "body_velocity", "f32", corners * sizeof(float), &velocity_at);
    if (wrong != nullptr) return wrong;
    sn_reader reader;
    const int code = sn_reader_open(&reader, ring);
    if (code != SN_OK) return sn_code_text(code);
    const std::unique_ptr<sn_reader, decltype(&sn_reader_close)> open(&reader, sn_reader_close);
    const int claimed = sn_mailbox_claim(&reader, force, "skyhook", priority, 0, nullptr);
    if (claimed != SN_OK) return sn_code_text(claimed);
    std::printf("generation %" PRIu64 ": ready\n", ring->control->generation);
    while (!stopped) {
        const int woken = sn_reader_wait(&reader, 100'000'000, spin_ns);
        if (woken == SN_CLOSED || (woken == SN_NOTHING && sn_ring_ended(ring))) break;
        sn_tick tick;
        if (woken != SN_NEW || sn_reader_take(&reader, &tick, 0) != SN_NEW) continue;
        // The state is read where the plant's kernels wrote it, and the command is written where the plant reads it.
        const auto *velocity = reinterpret_cast<const float *>(static_cast<const char *>(tick.payload) + velocity_at);
        auto *command = static_cast<float *>(sn_mailbox_buffer(&reader, force));
        for (std::uint32_t i = 0; i < corners; i++) command[i] = skyhook * velocity[i];
        sn_mailbox_send(&reader, force, tick.step, sn_now_ns());
        sn_reader_release(&reader, &tick);
        answered++;
        missed += tick.skipped;
    }
    std::printf("generation %" PRIu64 ": %" PRIu64 " ticks answered, %" PRIu64 " missed\n", ring->control->generation,
                answered, missed);
    return nullptr;
}

} // namespace

int main(int count, char **words)
{
    if (count < 2 || count > 4) return std::fprintf(stderr, "usage: controller_cpp NODE [SPIN_US [PRIORITY]]\n"), 2;
    const std::int64_t spin_ns = count > 2 ? 1000 * std::strtoll(words[2], nullptr, 10) : 0;
    const auto priority = static_cast<std::int32_t>(count > 3 ? std::strtol(words[3], nullptr, 10) : 0);
    struct sigaction action {};
    action.sa_handler = [](int) { stopped = 1; }; // without SA_RESTART, so that a signal ends a wait
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    for (const char *told = nullptr; !stopped;) {
        sn_ring ring;
        const char *wrong = sn_ring_open(&ring, words[1]);
        if (wrong == nullptr) {
            const std::unique_ptr<sn_ring, decltype(&sn_ring_unmap)> mapped(&ring, sn_ring_unmap);
            wrong = sn_ring_ended(&ring) ? "its node has ended" : control(&ring, spin_ns, priority);
        }
        if (wrong != nullptr && wrong != told) std::fprintf(stderr, "controller: %s: %s; waiting\n", words[1], wrong);
        told = wrong;
        const timespec pause{0, 10'000'000};
        if (wrong != nullptr) nanosleep(&pause, nullptr);
    }
    return 0;
}
