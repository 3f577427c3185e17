// Compiled once a test program: the headers that cost the most to read. Nothing may rely on it;
// every file includes what it uses (the test headers_alone compiles without it).
#ifndef WARPATH_TESTS_SUPPORT_PRECOMPILED_H
#define WARPATH_TESTS_SUPPORT_PRECOMPILED_H

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#endif
