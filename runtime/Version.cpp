extern "C" const char *tilewrightVersion() { return "0.1.0"; }
