// What the files of a program got wrong in their declarations, before anything runs.
#pragma once

namespace draftproof {

/// Throws: InputError if a name is registered twice, or if a verifier names a draft law that there is none of; the
/// nearest names are in the message.
void check_registrations();

}  // namespace draftproof
