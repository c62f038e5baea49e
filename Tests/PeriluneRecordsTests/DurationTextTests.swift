import PeriluneRecords
import Testing

@Suite struct DurationTextTests {
    @Test(arguments: [
        ("90", 90), ("1.5", 1.5), (".5", 0.5), ("0", 0), ("500ms", 0.5), ("2s", 2), ("1m", 60), ("1h", 3600), ("1d", 86_400),
        ("2w", 1_209_600),
        ("1h30m", 5400), ("1h 30m", 5400), (" 1 hour 30 min ", 5400), ("2 hours", 7200), ("90min", 5400), ("1.5 m", 90),
        ("10 sec", 10),
        ("1 Day", 86_400), ("1d12h", 129_600), ("1m 500ms", 60.5), ("30m1h", 5400), ("36525 d", 3_155_760_000),
    ])
    func `durations with units are parsed`(_ text: String, seconds: Double) {
        #expect(DurationText.read(text) == .seconds(seconds))
    }

    @Test(arguments: [
        "", " ", "s", "soon", "-1", "1x", "1h30", "1h1h", "500 msec 500ms", "1 2", "1,5", "1.5.2", "1e3", "0x10", "inf", "nan",
        "36526d", "1 s s", "²s", "1٣s", "+1",
        String(repeating: "9", count: 400),
    ])
    func `other texts are not durations`(_ text: String) {
        #expect(DurationText.read(text) == nil)
    }
}
