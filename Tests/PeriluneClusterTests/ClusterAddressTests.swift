@testable import PeriluneCluster
import PeriluneRecords
import Testing

/// The addresses of clusters.
struct ClusterAddressTests {
    @Test func `a cluster URL names the nodes and a database`() throws {
        let address = try ClusterAddress(url: "dqlite://h1:9001,10.0.0.2:9002/shop")
        #expect(address.servers.map(\.name) == ["h1:9001", "10.0.0.2:9002"])
        #expect(address.name == "shop")
        #expect(address.timeout == nil)
        #expect(address.description == "dqlite://h1:9001,10.0.0.2:9002/shop")
    }

    @Test func `a cluster URL may contain a timeout`() throws {
        #expect(try ClusterAddress(url: "dqlite://h1:9001/shop?timeout=2s").timeout == .seconds(2))
        #expect(try ClusterAddress(url: "dqlite://h1:9001/shop?timeout=250ms").timeout == .milliseconds(250))
    }

    @Test func `a cluster URL can name a proxy for a node`() throws {
        let server = try ServerAddress("10.0.0.1:9001=127.0.0.1:19001")
        #expect(server.name == "10.0.0.1:9001")
        #expect(server.host == "127.0.0.1")
        #expect(server.port == 19001)
    }

    @Test(arguments: [
        "dqlite://", "dqlite:///shop", "dqlite://h1/shop", "dqlite://h1:0/shop", "dqlite://h1:65536/shop", "dqlite://h1:9001",
        "dqlite://h1:9001/",
        "dqlite://h1:9001,/shop", "dqlite://h 1:9001/shop", "dqlite://h1:9001/a/b", "dqlite://h1:9001/shop?timeout=soon",
        "dqlite://h1:9001/shop?x=1",
        "dqlite://a:1=b:2=c:3/shop", "shop.sqlite",
    ])
    func `URLs of any other form are refused`(url: String) {
        let failure = #expect(throws: ClusterFailure.self) { try ClusterAddress(url: url) }
        #expect(failure?.kind == .argument)
    }
}
