! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The mercer authors
!> The C API with arrays and texts of Fortran: mercer_api, which a build makes of the API's description, and what follows.
!! Arrays have a row of the library in each column and are read and written in place.
module mercer
  use mercer_api
  implicit none
  public

  !> A view of the columns of a matrix as rows of a call; the matrix lives until the call has returned.
  interface mercer_rows_of
    module procedure rows_of_doubles, rows_of_floats
  end interface mercer_rows_of

  !> A view of a matrix as the result of a call.
  interface mercer_matrix_of
    module procedure matrix_of_doubles, matrix_of_floats
  end interface mercer_matrix_of

  private :: rows_of_doubles, rows_of_floats, matrix_of_doubles, matrix_of_floats, text_at

contains

  function rows_of_doubles(x) result(rows)
    real(c_double), intent(in), target, contiguous :: x(:, :)
    type(mercer_rows) :: rows
    rows = dense(MERCER_NUMBER_F64, shape(x, c_int64_t), c_loc(x))
  end function rows_of_doubles

  function rows_of_floats(x) result(rows)
    real(c_float), intent(in), target, contiguous :: x(:, :)
    type(mercer_rows) :: rows
    rows = dense(MERCER_NUMBER_F32, shape(x, c_int64_t), c_loc(x))
  end function rows_of_floats

  function dense(number, sizes, values) result(rows)
    integer(c_int32_t), intent(in) :: number
    integer(c_int64_t), intent(in) :: sizes(2)
    type(c_ptr), intent(in) :: values
    type(mercer_rows) :: rows
    rows%number = number
    rows%index = MERCER_INDEX_NONE
    rows%d = sizes(1)
    rows%ld = sizes(1)
    rows%n = sizes(2)
    rows%values = values
  end function dense

  !> A view that stands for absent rows, such as those of a model without targets.
  function mercer_no_rows() result(rows)
    type(mercer_rows) :: rows
    rows%struct_size = 0
  end function mercer_no_rows

  function matrix_of_doubles(x) result(matrix)
    real(c_double), intent(inout), target, contiguous :: x(:, :)
    type(mercer_matrix) :: matrix
    matrix%number = MERCER_NUMBER_F64
    matrix%cols = size(x, 1, c_int64_t)
    matrix%ld = matrix%cols
    matrix%rows = size(x, 2, c_int64_t)
    matrix%data = c_loc(x)
  end function matrix_of_doubles

  function matrix_of_floats(x) result(matrix)
    real(c_float), intent(inout), target, contiguous :: x(:, :)
    type(mercer_matrix) :: matrix
    matrix%number = MERCER_NUMBER_F32
    matrix%cols = size(x, 1, c_int64_t)
    matrix%ld = matrix%cols
    matrix%rows = size(x, 2, c_int64_t)
    matrix%data = c_loc(x)
  end function matrix_of_floats

  !> Why this thread's last failing call failed.
  function mercer_error_text() result(text)
    character(:), allocatable :: text
    text = text_at(mercer_last_error())
  end function mercer_error_text

  !> A text of a model, such as "report"; "" where there is none, with the status of the call.
  function mercer_text_of(model, what, status) result(text)
    type(c_ptr), intent(in) :: model
    character(*), intent(in) :: what
    integer(c_int32_t), intent(out) :: status
    character(:), allocatable :: text
    character(kind=c_char), allocatable :: buffer(:)
    integer(c_int64_t) :: needed, i
    text = ""
    status = mercer_model_text(model, what // c_null_char, capacity=0_c_int64_t, needed=needed)
    if (status /= MERCER_OK) return
    allocate (buffer(needed))
    status = mercer_model_text(model, what // c_null_char, buffer, needed)
    if (status /= MERCER_OK) return
    text = repeat(" ", int(needed - 1))
    do i = 1, needed - 1
      text(i:i) = buffer(i)
    end do
  end function mercer_text_of

  function text_at(place) result(text)
    type(c_ptr), intent(in) :: place
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, length
    call c_f_pointer(place, letters, [huge(length)])
    length = 0
    do while (letters(length + 1) /= c_null_char)
      length = length + 1
    end do
    text = repeat(" ", length)
    do i = 1, length
      text(i:i) = letters(i)
    end do
  end function text_at

end module mercer
