package keyspec

import (
	"encoding/binary"
	"math/bits"
)

// Hashtext is the server's hashtext(text) over the bytes of s: Bob Jenkins's lookup3 as Postgres
// words it, on a little-endian server. A big-endian server gives other numbers, and a database whose
// encoding is not UTF8 hashes other bytes; the emitted SQL therefore always hashes in the server, and
// this function only tells people and tests what it will say.
func Hashtext(s string) int32 {
	_, c := lookup3(s)
	return int32(c)
}

// HashtextExtended is the server's hashtextextended(text, 0).
func HashtextExtended(s string) int64 {
	b, c := lookup3(s)
	return int64(uint64(b)<<32 | uint64(c))
}

// lookup3 returns the last two words of the hash's state; hashtext is the last one alone.
func lookup3(s string) (b, c uint32) {
	a := 0x9e3779b9 + uint32(len(s)) + 3923095
	b, c = a, a
	for ; len(s) >= 12; s = s[12:] {
		a, b, c = mix(a+word(s), b+word(s[4:]), c+word(s[8:]))
	}
	var tail [12]byte
	copy(tail[:], s)
	// The lowest byte of c already holds the length, so the tail's last word starts one byte higher.
	c += binary.LittleEndian.Uint32(tail[8:]) << 8
	return final(a+binary.LittleEndian.Uint32(tail[:]), b+binary.LittleEndian.Uint32(tail[4:]), c)
}

func word(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func mix(a, b, c uint32) (uint32, uint32, uint32) {
	a, c = (a-c)^bits.RotateLeft32(c, 4), c+b
	b, a = (b-a)^bits.RotateLeft32(a, 6), a+c
	c, b = (c-b)^bits.RotateLeft32(b, 8), b+a
	a, c = (a-c)^bits.RotateLeft32(c, 16), c+b
	b, a = (b-a)^bits.RotateLeft32(a, 19), a+c
	c, b = (c-b)^bits.RotateLeft32(b, 4), b+a
	return a, b, c
}

func final(a, b, c uint32) (uint32, uint32) {
	c = (c ^ b) - bits.RotateLeft32(b, 14)
	a = (a ^ c) - bits.RotateLeft32(c, 11)
	b = (b ^ a) - bits.RotateLeft32(a, 25)
	c = (c ^ b) - bits.RotateLeft32(b, 16)
	a = (a ^ c) - bits.RotateLeft32(c, 4)
	b = (b ^ a) - bits.RotateLeft32(a, 14)
	c = (c ^ b) - bits.RotateLeft32(b, 24)
	return b, c
}
