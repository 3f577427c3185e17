// Gravitation of all bodies on each other; pos is x, y, z, mass.
extern "C" __global__ void nbody_forces(float* acc, const float4* pos, float softening, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 me = pos[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
      float4 other = pos[j];
      float dx = other.x - me.x;
      float dy = other.y - me.y;
      float dz = other.z - me.z;
      float dist2 = dx * dx + dy * dy + dz * dz + softening;
      float inv = rsqrtf(dist2);
      float f = other.w * inv * inv * inv;
      ax += dx * f;
      ay += dy * f;
      az += dz * f;
    }
    acc[3 * i] = ax;
    acc[3 * i + 1] = ay;
    acc[3 * i + 2] = az;
  }
}
