// The entry point of every program that links draftproof::cli and has no main of its own.
namespace draftproof {
int run_program(int argc, char** argv);  // cli/program.cpp
}

int main(int argc, char** argv) { return draftproof::run_program(argc, argv); }
