// The entry point of every program that links draftproof::cli and has no main of its own.
#include <draftproof/cli/program.hpp>

int main(int argc, char** argv) { return draftproof::run_program(argc, argv); }
