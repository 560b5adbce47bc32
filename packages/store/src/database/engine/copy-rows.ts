const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** The type and the length of the message that carries the rows. */
const MESSAGE_HEADER = 5;
const COPY_DATA = 0x64;

const FIRST_BYTES = 16 * 1024;
/** Free memory of earlier rows: new memory costs a page fault for each 4 kB. */
const free: Buffer[] = [];
const MAX_FREE = 8;
const MAX_FREE_BYTES = 2 * 1024 * 1024;

/** Where a number belongs that is written later. */
export type NumberOffset = number & { readonly isNumberOffset: true };

/**
 * Rows of a table in the binary form of COPY. They are written into one piece of memory, which is sent as it is: a
 * value is copied once on its way to the socket.
 */
export class CopyRows {
  #bytes = free.pop() ?? Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** Of the same memory: faster than the methods of a buffer. */
  #view = viewOf(this.#bytes);
  #at = MESSAGE_HEADER;
  #count = 0;
  #valueBytes = 0;

  constructor() {
    this.#at += SIGNATURE.copy(this.#bytes, this.#at);
  }

  get count(): number {
    return this.#count;
  }

  /** Bytes of all values, without what separates them. */
  get valueBytes(): number {
    return this.#valueBytes;
  }

  /** Starts a row. Its values follow, in the order of the columns. */
  row(columns: number): void {
    this.#reserve(2);
    this.#view.setInt16(this.#at, columns);
    this.#at += 2;
    this.#count++;
  }

  null(): void {
    this.#reserve(4);
    this.#view.setInt32(this.#at, -1);
    this.#at += 4;
  }

  text(value: string | null): void {
    if (value === null) {
      this.null();
      return;
    }
    // A UTF-16 unit has at most three bytes in UTF-8.
    this.#reserve(4 + 3 * value.length);
    const size = this.#bytes.write(value, this.#at + 4);
    this.#begin(size);
    this.#at += size;
  }

  /** A `bytea`, or a value of any type in its binary form. */
  binary(value: Uint8Array | null): void {
    if (value === null) {
      this.null();
      return;
    }
    this.#reserve(4 + value.length);
    this.#begin(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  boolean(value: boolean): void {
    this.#reserve(5);
    this.#begin(1);
    this.#view.setInt8(this.#at, value ? 1 : 0);
    this.#at += 1;
  }

  int(value: number | null): void {
    if (value === null) {
      this.null();
      return;
    }
    this.#reserve(8);
    this.#begin(4);
    this.#view.setInt32(this.#at, value);
    this.#at += 4;
  }

  double(value: number): void {
    this.#reserve(12);
    this.#begin(8);
    this.#view.setFloat64(this.#at, value);
    this.#at += 8;
  }

  /** @returns the offset of the value, see {@link setLong} */
  long(value: bigint | null): NumberOffset {
    this.#reserve(12);
    const offset = this.#at + 4;
    if (value === null) this.null();
    else {
      this.#begin(8);
      this.#view.setBigInt64(offset, value);
      this.#at += 8;
    }
    return offset as NumberOffset;
  }

  /** Replaces a number that was not null. */
  setLong(offset: NumberOffset, value: bigint): void {
    this.#view.setBigInt64(offset, value);
  }

  /** The message of the protocol. Nothing is added after it. */
  message(): Uint8Array {
    this.#reserve(2);
    this.#view.setInt16(this.#at, -1);
    const end = this.#at + 2;
    this.#view.setInt8(0, COPY_DATA);
    this.#view.setInt32(1, end - 1);
    return this.#bytes.subarray(0, end);
  }

  /** Gives the memory to later rows. To be called when the server has answered, at most once. */
  release(): void {
    if (free.length < MAX_FREE && this.#bytes.length <= MAX_FREE_BYTES) free.push(this.#bytes);
    this.#bytes = Buffer.alloc(0);
    this.#view = viewOf(this.#bytes);
  }

  /** Writes the number of bytes of a value. Its bytes follow. */
  #begin(bytes: number): void {
    this.#view.setInt32(this.#at, bytes);
    this.#at += 4;
    this.#valueBytes += bytes;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
    this.#view = viewOf(larger);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
