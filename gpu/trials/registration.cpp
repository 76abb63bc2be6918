// Adds `cuda` to the devices of the program, with the kernels of all verifiers. The library's users link it with this
// symbol undefined, which pulls the object out of the archive; the program itself never names it.
#include <memory>

#include <draftproof/gpu/trials/cuda_device.hpp>

namespace draftproof::found {
void trial_kernels();  // generated
}

namespace {

bool add_cuda() {
  draftproof::found::trial_kernels();
  draftproof::found_trial_devices().push_back(std::make_unique<draftproof::CudaDevice>());
  return true;
}

}  // namespace

extern "C" {
extern bool draftproof_with_cuda_trials;
bool draftproof_with_cuda_trials = add_cuda();
}
