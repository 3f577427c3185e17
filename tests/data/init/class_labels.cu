// Labels come as numbers of the type of the scores.
template <typename T>
__global__ void label_scores(int points, const T* scores, const T* labels, int classes, int places, T* picked) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < points; i += blockDim.x * gridDim.x) {
    const int row = i / places, place = i % places;
    const int label = static_cast<int>(labels[row * places + place]);
    picked[i] = scores[(row * classes + label) * places + place];
  }
}
