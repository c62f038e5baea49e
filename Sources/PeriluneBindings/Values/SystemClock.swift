#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
package import PeriluneRecords

/// The system clock, which reads the current time with microsecond resolution.
package enum SystemClock {
    package static func now() throws -> DateTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return try DateTime(microsecondsSince1970: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
