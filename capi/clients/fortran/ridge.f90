! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The mercer authors
!> Ridge regression on random Fourier features: how far the features are from the exact kernel, a model, its file, what an
!! error says. Usage: ridge [FILE]
program ridge
  use mercer
  implicit none

  integer, parameter :: n = 2000, d = 3, features = 512, probes = 50
  character(*), parameter :: gaussian = '{"kernel":"gaussian","lengthscale":0.7}'
  real(c_double), target :: X(d, n), y(1, n), f(1, n)
  real(c_double) :: error, relative
  character(256) :: path = "ridge_fortran.mercer"

  if (command_argument_count() > 0) call get_command_argument(1, path)
  call draw(X)
  y(1, :) = X(1, :) * X(1, :) + X(2, :) * X(3, :)
  call fit_and_predict(trim(path))
  write (*, "(2a)") "predictions ", hash_of(f)
  relative = norm2(y - f) / norm2(y)
  error = kernel_error()
  write (*, "(a, es9.2, a, f6.3)") "relative error", relative, ", largest kernel error", error
  call refused()
  ! Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
  if (relative > 0.02 .or. error > 6 * sqrt(1.5 / features)) error stop 1

contains

  subroutine check(status)
    integer(c_int32_t), intent(in) :: status
    if (status == MERCER_OK) return
    write (*, "(a)") mercer_error_text()
    error stop 1
  end subroutine check

  !> A model of all rows, written to a file and read again. {} would search map, kernel, lengthscales and lambda.
  subroutine fit_and_predict(path)
    character(*), intent(in) :: path
    character(*), parameter :: spec = '{"map":{"kernel":' // gaussian // ',"features":512},"search":false,"lambda":1e-6}'
    type(c_ptr) :: model, loaded
    type(mercer_data) :: data
    data%X = mercer_rows_of(X)
    data%Y = mercer_rows_of(y)
    call check(mercer_model_fit(spec // c_null_char, data, c_null_ptr, model))
    call check(mercer_model_write(model, path // c_null_char, c_null_ptr, 0_c_int64_t))
    call check(mercer_model_read(path // c_null_char, c_null_ptr, 0_c_int64_t, loaded))
    call check(mercer_model_predict(loaded, mercer_rows_of(X), "value" // c_null_char, context=c_null_ptr, out=mercer_matrix_of(f)))
    call mercer_model_free(model)
    call mercer_model_free(loaded)
  end subroutine fit_and_predict

  !> Largest |z(x)'z(y) - k(x, y)| over pairs of the first rows.
  function kernel_error() result(worst)
    real(c_double) :: worst
    real(c_double), allocatable, target :: Z(:, :), K(:, :)
    type(c_ptr) :: map, kernel
    allocate (Z(features, probes), K(probes, probes))
    call check(mercer_map_from_spec('{"kernel":' // gaussian // ',"inputs":3,"features":512,"seed":42}' // c_null_char, map))
    call check(mercer_map_transform(map, mercer_rows_of(X(:, :probes)), context=c_null_ptr, Z=mercer_matrix_of(Z)))
    call check(mercer_map_kernel(map, kernel))
    call check(mercer_kernel_gram(kernel, mercer_rows_of(X(:, :probes)), mercer_rows_of(X(:, :probes)), mercer_no_rows(), &
        c_null_ptr, mercer_matrix_of(K)))
    worst = maxval(abs(matmul(transpose(Z), Z) - K))
    call mercer_kernel_free(kernel)
    call mercer_map_free(map)
  end function kernel_error

  subroutine refused()
    type(c_ptr) :: map
    integer(c_int32_t) :: status
    status = mercer_map_from_spec('{"kernel":' // gaussian // ',"inputs":-3,"features":8}' // c_null_char, map)
    if (status /= MERCER_INVALID_ARGUMENT) error stop 1
    write (*, "(2a)") "an error says: ", mercer_error_text()
    if (c_associated(map)) error stop 1
  end subroutine refused

  !> Numbers below 2^64 as four parts of 16 bits, the lowest first, since Fortran has no integers without a sign.
  pure function multiplied(a, b, added) result(sums)
    integer(c_int64_t), intent(in) :: a(0:3), b(0:3), added(0:3)
    integer(c_int64_t) :: sums(0:3)
    integer :: i, j
    sums = added
    do i = 0, 3
      do j = 0, 3 - i
        sums(i + j) = sums(i + j) + a(i) * b(j)
      end do
    end do
    do i = 0, 2
      sums(i + 1) = sums(i + 1) + sums(i) / 65536
    end do
    sums = mod(sums, 65536_c_int64_t)
  end function multiplied

  !> Multiples of 1/512 in [-1, 1), so that targets have the same bits in every language.
  subroutine draw(numbers)
    real(c_double), intent(out) :: numbers(:, :)
    integer(c_int64_t), parameter :: factor(0:3) = [32557, 19605, 62509, 22609], added(0:3) = [33103, 63335, 31614, 5125]
    integer(c_int64_t) :: state(0:3)
    integer :: i, j
    state = [1, 0, 0, 0]
    do i = 1, size(numbers, 2)
      do j = 1, size(numbers, 1)
        state = multiplied(state, factor, added)
        numbers(j, i) = real(state(3) / 64, c_double) / 512 - 1
      end do
    end do
  end subroutine draw

  !> FNV-1a of the bytes of predictions; clients in other languages print the same.
  function hash_of(predictions) result(text)
    real(c_double), intent(in) :: predictions(:, :)
    character(*), parameter :: digits = "0123456789abcdef"
    character(16) :: text
    integer(c_int8_t) :: bytes(8 * size(predictions))
    integer(c_int64_t), parameter :: prime(0:3) = [435, 0, 256, 0], none(0:3) = 0
    integer(c_int64_t) :: hash(0:3)
    integer :: i, j
    bytes = transfer(predictions, bytes)
    hash = [8997, 33826, 40164, 52210]
    do i = 1, size(bytes)
      hash(0) = ieor(hash(0), iand(int(bytes(i), c_int64_t), 255_c_int64_t))
      hash = multiplied(hash, prime, none)
    end do
    do i = 0, 15
      j = int(iand(ishft(hash(ishft(i, -2)), -4 * iand(i, 3)), 15_c_int64_t)) + 1
      text(16 - i:16 - i) = digits(j:j)
    end do
  end function hash_of

end program ridge
