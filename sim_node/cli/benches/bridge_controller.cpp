// The controller in C++ of the bridge bench: it answers each tick of the ring NAME until that is closed, and spins for
// SPIN_US before it sleeps. Then it prints as JSON the ns from each commit to the next.
//
//     bridge_controller NAME SPIN_US
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <sim_node/ring.h>

namespace {

constexpr std::uint32_t size = 4;
constexpr std::int64_t patience_ns = 5'000'000'000;

int fail(const char *why)
{
    std::fprintf(stderr, "bridge_controller: %s\n", why);
    return 1;
}

} // namespace

int main(int words, char **word)
{
    if (words != 3) return fail("two words: NAME SPIN_US");
    const std::int64_t spin_ns = 1000 * std::strtoll(word[2], nullptr, 10);
    sn_ring ring;
    sn_reader reader;
    std::uint64_t velocity_at;
    std::uint32_t force;
    const char *wrong = sn_ring_open(&ring, word[1]);
    if (wrong == nullptr) wrong = sn_ring_field(&ring, "body_velocity", "f32", size * sizeof(float), &velocity_at);
    if (wrong == nullptr) wrong = sn_ring_input(&ring, "force", "f32", size * sizeof(float), &force);
    if (wrong != nullptr) return fail(wrong);
    const int code = sn_reader_open(&reader, &ring);
    if (code != SN_OK) return fail(sn_code_text(code));
    const int claimed = sn_mailbox_claim(&reader, force, "bridge_controller", 0, 0, nullptr);
    if (claimed != SN_OK) return fail(sn_code_text(claimed));
    std::puts("ready");
    std::fflush(stdout);
    sn_tick tick;
    std::vector<std::int64_t> cycles;
    std::int64_t last_ns = 0;
    while (sn_reader_wait(&reader, patience_ns, spin_ns) == SN_NEW) {
        if (sn_reader_take(&reader, &tick, 0) != SN_NEW) continue;
        const auto *velocity = reinterpret_cast<const float *>(static_cast<const char *>(tick.payload) + velocity_at);
        auto *command = static_cast<float *>(sn_mailbox_buffer(&reader, force));
        for (std::uint32_t i = 0; i < size; i++) command[i] = -3000.0F * velocity[i];
        sn_mailbox_send(&reader, force, tick.step, sn_now_ns());
        sn_reader_release(&reader, &tick);
        if (last_ns != 0) cycles.push_back(tick.sent_ns - last_ns);
        last_ns = tick.sent_ns;
    }
    sn_reader_close(&reader);
    sn_ring_unmap(&ring);
    std::printf("{\"cycles\":[");
    for (std::size_t i = 0; i < cycles.size(); i++)
        std::printf("%s%lld", i > 0 ? "," : "", static_cast<long long>(cycles[i]));
    std::puts("]}");
    return 0;
}
