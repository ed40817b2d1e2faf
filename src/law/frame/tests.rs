//! Law P: any frames, cut into any reads.
