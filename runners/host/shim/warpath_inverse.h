#pragma once

/// Inverse error functions and what follows from them.

/// The x of erf(x) = y, where y is not negative and 1 - y is `tail`: Halley's steps from Winitzki's approximation.
WARPATH_F double warpath_erfinv(double y, double tail) {
  if (!(tail > 0.0)) return tail == 0.0 ? __builtin_inf() : __builtin_nan("");
  const double l = log(tail * (1.0 + y)), u = 4.33074675 + 0.5 * l;
  double x = sqrt(sqrt(u * u - l / 0.147) - u);
  for (int k = 0; k < 4; ++k) {
    const double error = y < 0.5 ? erf(x) - y : tail - erfc(x), step = error / (1.12837916709551257390 * exp(-x * x));
    x -= step / (1.0 + x * step);
  }
  return x;
}
WARPATH_F double erfinv(double y) { return copysign(warpath_erfinv(fabs(y), 1.0 - fabs(y)), y); }
WARPATH_F double erfcinv(double y) { return y < 1.0 ? warpath_erfinv(1.0 - y, y) : -warpath_erfinv(y - 1.0, 2.0 - y); }
WARPATH_F double normcdfinv(double p) { return -1.41421356237309504880 * erfcinv(2.0 * p); }
WARPATH_F float erfinvf(float y) { return static_cast<float>(erfinv(y)); }
WARPATH_F float erfcinvf(float y) { return static_cast<float>(erfcinv(y)); }
WARPATH_F float normcdfinvf(float p) { return static_cast<float>(normcdfinv(p)); }
