--- Invented names for the music shop, combined from lists of words.
--
-- Each function takes a generator from `random.lua` as its first argument. The names contain accents, apostrophes and letters
-- beyond ASCII on purpose: a database that cannot store "Þórdís O'Riordan" is not of much use.
local names = {}

names.genres = {
  "Ambient", "Blues", "Chamber", "Chanson", "Dub", "Electronica", "Field Recordings", "Folk", "Funk", "Jazz",
  "Latin", "Metal", "Pop", "Post-Rock", "Soul", "Soundtrack",
}

--- The origins of people: a country, its cities, first names and last names.
names.countries = {
  { name = "Brazil", cities = { "Belém", "Curitiba", "São Luís" },
    first = { "Conceição", "João", "Raimundo", "Thaís" }, last = { "Araújo", "Assunção", "Brandão", "Magalhães" } },
  { name = "Canada", cities = { "Halifax", "Montréal", "Saskatoon" },
    first = { "Marguerite", "Odette", "Tobias", "Wendell" }, last = { "Bélanger", "Lockridge", "Pruitt", "Vandermeer" } },
  { name = "Czechia", cities = { "Brno", "Olomouc", "Plzeň" },
    first = { "Alžběta", "Božena", "Jiří", "Tomáš" }, last = { "Dvořáček", "Kučerka", "Šimůnek", "Zemánek" } },
  { name = "Denmark", cities = { "Aarhus", "Odense", "Ærøskøbing" },
    first = { "Frederik", "Åse", "Mette", "Søren" }, last = { "Bødker", "Holmgaard", "Kjærgaard", "Østerlund" } },
  { name = "France", cities = { "Besançon", "Lyon", "Nîmes" },
    first = { "Benoît", "Élodie", "François", "Maëlle" }, last = { "Chevrel", "Desmoulins", "Garnault", "Lefèvre" } },
  { name = "Germany", cities = { "Bremen", "Görlitz", "Würzburg" },
    first = { "Anneliese", "Jörg", "Käthe", "Matthias" }, last = { "Ahlers", "Brückner", "Lindhorst", "Weißenfels" } },
  { name = "Greece", cities = { "Βόλος", "Θεσσαλονίκη", "Πάτρα" },
    first = { "Ελένη", "Θανάσης", "Μαρίνα", "Στέλιος" }, last = { "Βλαχάκη", "Καλλέργη", "Μαυρίδη", "Ξενάκη" } },
  { name = "Iceland", cities = { "Akureyri", "Ísafjörður", "Reykjavík" },
    first = { "Ásta", "Guðmundur", "Hrafn", "Þórdís" }, last = { "Bergmann", "Blöndal", "Hólm", "Thorlacius" } },
  { name = "India", cities = { "Kochi", "Mysuru", "Pune" },
    first = { "Ananya", "Arjun", "Meera", "Vikram" }, last = { "Banerji", "Deshmukh", "Kulkarni", "Nambiar" } },
  { name = "Ireland", cities = { "Cork", "Dún Laoghaire", "Galway" },
    first = { "Aoife", "Cillian", "Siobhán", "Tadhg" }, last = { "Geraghty", "Kinsella", "Ó Conaill", "O'Riordan" } },
  { name = "Japan", cities = { "Kōbe", "Nagoya", "Ōtsu" },
    first = { "Haruka", "Kenji", "Shō", "Yūko" }, last = { "Aizawa", "Fujimori", "Kurosaki", "Ōtake" } },
  { name = "Poland", cities = { "Gdańsk", "Łódź", "Poznań" },
    first = { "Agnieszka", "Łukasz", "Michał", "Zofia" }, last = { "Kłos", "Sadowiec", "Wójtowicz", "Żurek" } },
  { name = "Spain", cities = { "A Coruña", "Cádiz", "Málaga" },
    first = { "Álvaro", "Begoña", "Íñigo", "Núria" }, last = { "Castellón", "Ibáñez", "Peñalver", "Urrutia" } },
  { name = "Turkey", cities = { "Çanakkale", "Eskişehir", "İzmir" },
    first = { "Çiğdem", "Kağan", "Şule", "Ümit" }, last = { "Akçay", "Güneşoğlu", "Karadağ", "Öztekin" } },
  { name = "United Kingdom", cities = { "Leeds", "Penzance", "Swansea" },
    first = { "Alistair", "Clement", "Gwen", "Harriet" }, last = { "Crowhurst", "Penhaligon", "Threlfall", "Wetherby" } },
  { name = "United States", cities = { "Duluth", "Santa Fe", "Tacoma" },
    first = { "Delphine", "Odessa", "Silas", "Zoë" }, last = { "Ambrose", "Halloway", "Oakhurst", "Tidewell" } },
}

local adjectives = {
  "Amber", "Borrowed", "Broken", "Copper", "Crooked", "Distant", "Early", "Electric", "Frozen", "Gentle", "Golden",
  "Hollow", "Hungry", "Lunar", "Midnight", "Naïve", "Northern", "Paper", "Plastic", "Quiet", "Restless", "Rusty",
  "Salted", "Scarlet", "Secret", "Silent", "Velvet", "Wandering", "Weightless", "Winter",
}

-- These nouns form the plural with an s.
local nouns = {
  "Anchor", "Balloon", "Bicycle", "Canyon", "Cathedral", "Cloud", "Comet", "Daydream", "Ember", "Engine", "Façade",
  "Feather", "Garden", "Glacier", "Harbour", "Island", "Kettle", "Lantern", "Letter", "Lighthouse", "Magnet",
  "Marigold", "Meadow", "Mirror", "Orchard", "Piano", "Postcard", "River", "Satellite", "Sextant", "Shadow", "Signal",
  "Sparrow", "Staircase", "Telegram", "Thistle", "Tram", "Tunnel", "Umbrella", "Window",
}

local function adjective(random) return random:pick(adjectives) end
local function noun(random) return random:pick(nouns) end
local function city(random) return random:pick(random:pick(names.countries).cities) end

local function a_noun(random)
  local word = noun(random)
  return (word:find("^[AEIOU]") and "an " or "a ") .. word:lower()
end

local band_patterns = {
  function(random) return "The " .. adjective(random) .. " " .. noun(random) .. "s" end,
  function(random) return adjective(random) .. " " .. noun(random) end,
  function(random) return noun(random) .. " & the " .. noun(random) .. "s" end,
  function(random) return noun(random) .. "s of " .. city(random) end,
  function(random) return "Café " .. noun(random) end,
}

local title_patterns = {
  function(random) return adjective(random) .. " " .. noun(random) end,
  function(random) return noun(random) .. "s over " .. city(random) end,
  function(random) return noun(random) .. " and " .. noun(random) end,
  function(random) return "Waiting for the " .. noun(random) end,
  function(random) return "Don't Wake the " .. noun(random) end,
  function(random) return "Last Tram to " .. city(random) end,
  function(random) return "The " .. noun(random) .. " Song" end,
  function(random) return "My " .. adjective(random) .. " " .. noun(random) end,
  function(random) return random:pick{ "Evening", "Morning", "Nothing New", "Snow" } .. " in " .. city(random) end,
  function(random) return noun(random) .. "s Like These" end,
  function(random) return "Who Took the " .. noun(random) .. "s?" end,
  function(random) return "You, Me and " .. a_noun(random) end,
  function(random) return "Für " .. random:pick(random:pick(names.countries).first) end,
  function(random) return "Nocturne No. " .. random:between(1, 24) end,
}

local album_patterns = {
  title_patterns[1], title_patterns[3], title_patterns[6],
  function(random) return "The " .. noun(random) .. " " .. random:pick{ "Sessions", "Tapes", "Years", "Suite" } end,
  function(random) return "Live in " .. city(random) end,
  function(random) return noun(random) .. "s" end,
}

local label_patterns = {
  function(random) return noun(random) .. " Records" end,
  function(random) return adjective(random) .. " " .. noun(random) .. " Music" end,
}

local company_patterns = {
  function(random) return noun(random) .. " Films" end,
  function(random) return "Hotel " .. noun(random) end,
  function(random) return "Radio " .. adjective(random) end,
  function(random) return adjective(random) .. " " .. noun(random) .. " Ltd." end,
}

local function composed(random, patterns) return random:pick(patterns)(random) end

--- Returns a person as a first name, a last name and an element of `names.countries`.
function names.person(random)
  local country = random:pick(names.countries)
  return random:pick(country.first), random:pick(country.last), country
end

--- Returns the name of an artist, either a person or a band, and the name of a country.
function names.artist(random)
  local first, last, country = names.person(random)
  if random:chance(40) then return first .. " " .. last, country.name end
  return composed(random, band_patterns), country.name
end

--- Returns the names of one or two composers.
function names.composer(random)
  local first, last = names.person(random)
  local composer = first .. " " .. last
  if random:chance(75) then return composer end
  first, last = names.person(random)
  return composer .. ", " .. first .. " " .. last
end

--- Returns the title of a track.
function names.track(random)
  local title = composed(random, title_patterns)
  if random:chance(4) then title = title .. random:pick{ " (Demo)", " (Live)", " (Reprise)", ", Part II" } end
  return title
end

--- Returns the title of an album.
function names.album(random) return composed(random, album_patterns) end

--- Returns the name of a record label.
function names.label(random) return composed(random, label_patterns) end

--- Returns the name of a company that buys music.
function names.company(random) return composed(random, company_patterns) end

return names
