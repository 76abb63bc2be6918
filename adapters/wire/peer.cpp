#include <draftproof/adapters/wire/peer.hpp>

#include <draftproof/adapters/wire/child_process.hpp>
#include <draftproof/adapters/wire/socket_peer.hpp>

namespace draftproof::adapters {

std::unique_ptr<Peer> open_peer(const Address& address, const ChildOptions& options,
                                Peer::Clock::time_point deadline) {
  if (address.listens()) return std::make_unique<SocketPeer>(address.text, deadline);
  return std::make_unique<ChildProcess>(address.text, options);
}

}  // namespace draftproof::adapters
