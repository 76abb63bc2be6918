// Adds the studies and the command `reproduce` to those of the program. draftproof::studies makes its users link with
// this symbol undefined, which pulls the object out of the archive.
namespace draftproof::found {
void studies();  // generated
}

extern "C" {
extern bool draftproof_with_studies;
bool draftproof_with_studies = (draftproof::found::studies(), true);
}
