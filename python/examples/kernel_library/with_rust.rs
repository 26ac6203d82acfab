//! The library from Rust, built for cpu or managed: by tvm-ffi's C interface, with libtvm_ffi and nothing else.
//!   rustc -O with_rust.rs -l dylib:+verbatim=kernels.so -L . -l tvm_ffi -L $(tvm-ffi-config --libdir) -o with_rust
//!   LD_LIBRARY_PATH=.:$(tvm-ffi-config --libdir) ./with_rust
//! The crate tvm-ffi wraps the same interface: its `Module::load_from_file("kernels.so")?.get_function("add")`.
use std::ffi::c_void;
use std::ptr::null_mut;

/// tvm-ffi's value of any type: here a pointer to a tensor.
#[repr(C)]
struct Any {
    type_index: i32,
    zero: u32,
    value: u64,
}
const DLTENSOR_PTR: i32 = 7;

/// DLPack's tensor: row-major where there are no strides.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: [i32; 2], // the kind (1: this machine's memory) and the number
    ndim: i32,
    code: u8, // 2: floats
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

extern "C" {
    fn __tvm_ffi_add(handle: *mut c_void, args: *const Any, count: i32, result: *mut Any) -> i32;
    fn TVMFFIErrorMoveFromRaised(error: *mut *mut c_void);
    fn TVMFFIObjectDecRef(object: *mut c_void) -> i32;
}

/// The functions ask for memory that is aligned to 16 bytes.
#[repr(align(16))]
struct Elements([f32; 1000]);

fn add(operands: &mut [&mut Elements; 3], lengths: [i64; 3]) -> bool {
    let shapes = lengths.map(|length| [length]);
    let tensors: Vec<Tensor> = operands
        .iter_mut()
        .zip(&shapes)
        .map(|(elements, shape)| Tensor {
            data: elements.0.as_mut_ptr().cast(),
            device: [1, 0],
            ndim: 1,
            code: 2,
            bits: 32,
            lanes: 1,
            shape: shape.as_ptr(),
            strides: std::ptr::null(),
            byte_offset: 0,
        })
        .collect();
    let args: Vec<Any> =
        tensors.iter().map(|one| Any { type_index: DLTENSOR_PTR, zero: 0, value: one as *const Tensor as u64 }).collect();
    let mut result = Any { type_index: 0, zero: 0, value: 0 };
    unsafe {
        if __tvm_ffi_add(null_mut(), args.as_ptr(), args.len() as i32, &mut result) == 0 {
            return true;
        }
        let mut error = null_mut();
        TVMFFIErrorMoveFromRaised(&mut error);
        TVMFFIObjectDecRef(error);
    }
    false
}

fn main() {
    let (mut a, mut b, mut c) = (Elements([0.0; 1000]), Elements([2.0; 1000]), Elements([0.0; 1000]));
    for (i, one) in a.0.iter_mut().enumerate() {
        *one = i as f32;
    }
    assert!(add(&mut [&mut a, &mut b, &mut c], [1000; 3]));
    assert!(c.0.iter().enumerate().all(|(i, one)| *one == i as f32 + 2.0));
    assert!(!add(&mut [&mut a, &mut b, &mut c], [1000, 999, 1000])); // other lengths are an error
    println!("right");
}
